// Page Devices: the processors of the machine, and the parts that OpenCL needs.
import { bytes, count } from "./format";
import { Curl, Facts, Failure, Panel, Text, useLoad, Waiting } from "./parts";
import type { Device, Machine, Place } from "./types";

export function Devices() {
  const devices = useLoad<{ devices: Device[] }>("/v1/devices");
  const machine = useLoad<Machine>("/v1/machine");
  if (devices.error) return <Failure error={devices.error} />;
  if (!devices.value) return <Waiting what="devices" />;
  const found = machine.value?.places ?? [];
  const others = found.filter((p) => !p.open);
  const chosen = found.find((p) => p.open && p.preferred && p.kind === "opencl") ?? found.find((p) => p.open);
  return (
    <>
      <Panel title="In service" aside={<Curl path="/v1/devices" />}>
        <div class="cards">{devices.value.devices.map((d) => <One key={d.name} of={d} place={found.find((p) => p.open && p.device === d.device)} chosen={chosen?.device === d.device} />)}</div>
      </Panel>
      <Failure error={machine.error} />
      {others.length > 0 && (
        <Panel title="Also found" aside={<Curl path="/v1/machine" />}>
          <div class="cards">{others.map((p) => <One key={p.device} of={{ ...p, name: p.device }} place={p} />)}</div>
        </Panel>)}
      {machine.value && (
        <Panel title="Parts that OpenCL needs" aside={<code>heddle devices --doctor</code>}>
          {machine.value.opencl_error && <p class="hint">Search for devices: <Text of={machine.value.opencl_error} /></p>}
          {machine.value.findings.length === 0 && <p class="hint">The examination knows Linux only.</p>}
          <ul class="findings">
            {machine.value.findings.map((f, i) => (
              <li key={i}>
                <span class={`state ${f.state}`}>{{ ok: "✓ ok", note: "• note", missing: "✕ missing" }[f.state] ?? f.state}</span>
                <div><b><Text of={f.name} /></b> <Text of={f.found} />{f.repair && <pre tabIndex={0}><Text of={f.repair} /></pre>}</div>
              </li>))}
          </ul>
        </Panel>)}
      {!machine.value && !machine.error && <Waiting what="the machine" />}
    </>
  );
}

function One({ of, place, chosen }: { of: Device; place?: Place; chosen?: boolean }) {
  const state = of.removed ? "missing" : place && !place.open ? "note" : "ok";
  const test = of.removed ? "✕ removed" : place && !place.open ? "• not opened: no self-test" : of.kind === "host" ? "✓ works" : "✓ self-test passed";
  return (
    <article class="card">
      <h3><Text of={of.name} /></h3>
      <p><span class={`state ${state}`}>{test}</span>{chosen && <span class="state ok">✓ choice of auto</span>}{of.reserve && <span class="state note">• reserve</span>}</p>
      {of.removed && <p class="failure"><Text of={of.removed} /></p>}
      <Facts of={[
        ["Kind", of.kind === "host" ? "pure Go" : `OpenCL ${of.type ?? ""}`], ["Device", <Text of={of.device} />], ["Platform", of.platform ?? ""], ["Vendor", of.vendor ?? ""],
        ["Driver", of.driver ?? ""], ["Version", of.version ?? ""], ["Compute units", of.compute_units ? count(of.compute_units) : ""],
        ["Memory", of.memory ? bytes(of.memory) : ""], ["Largest buffer", place?.max_alloc ? bytes(place.max_alloc) : ""], ["Local memory", place?.local_memory ? bytes(place.local_memory) : ""],
        ["Tuning", place?.tuning ? <Text of={place.tuning} /> : ""], ["Choice", <Text of={of.reason} />],
      ]} />
    </article>
  );
}
