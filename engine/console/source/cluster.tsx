// Page Cluster: shards, replicas, nodes, changes under way, and the coverage without some nodes.
import { useEffect, useState } from "preact/hooks";
import { bytes, count, percent, time } from "./format";
import { Bar, Curl, Facts, Failure, Grid, Panel, Text, useLoad, Waiting } from "./parts";
import type { Cluster as State, Collection } from "./types";

export function Cluster() {
  const state = useLoad<State>("/v1/cluster");
  const [without, setWithout] = useState<string[]>([]);
  useEffect(() => {
    const timer = setInterval(state.again, 2000);
    return () => clearInterval(timer);
  });
  const now = state.last;
  if (!now) return state.error ? <Failure error={state.error} /> : <Waiting what="the cluster" />;
  if (!now.present) {
    return <p class="notice">This server answers from its own files. A cluster begins with <code>heddle cluster dev</code>; the server of a cluster is <code>heddle serve --cluster URL</code>.</p>;
  }
  const down = new Set([...without, ...now.nodes.filter((n) => !n.alive).map((n) => n.name)]);
  return (
    <>
      <Failure error={state.error} />
      <Panel title="Nodes" aside={<Curl path="/v1/cluster" />}>
        <p class="hint">Without a node: mark it to see the coverage that is left.</p>
        <Grid label="Nodes" fields={[{ head: "Node" }, { head: "State" }, { head: "Shards", number: true }, { head: "Running", number: true }, { head: "Latency", number: true }, { head: "Free disk", number: true }, { head: "Without it" }]}
          rows={now.nodes.map((n) => [
            <Text of={n.name} />,
            <><span class={`state ${n.alive ? (n.draining ? "note" : "ok") : "missing"}`}>{n.alive ? (n.draining ? "• drains" : "✓ answers") : "✕ silent"}</span>{n.errors.map((e, i) => <small key={i}><Text of={e} /></small>)}</>,
            count(n.shards), count(n.running), n.latency_ms ? time(n.latency_ms) : "–", n.free ? bytes(n.free) : "–",
            <label class="check"><input type="checkbox" checked={without.includes(n.name)} onChange={(e) => setWithout(e.currentTarget.checked ? [...without, n.name] : without.filter((w) => w !== n.name))} /><span class="hidden">without {n.name}</span></label>,
          ])} />
      </Panel>
      {now.collections.map((c) => <One key={c.name} of={c} nodes={now.nodes.map((n) => n.name)} down={down} />)}
      {now.collections.length === 0 && <p class="notice">The cluster serves no collection: <code>heddle cluster publish</code>.</p>}
    </>
  );
}

function One({ of, nodes, down }: { of: Collection; nodes: string[]; down: Set<string> }) {
  const covered = of.shards.map((s) => s.replicas.some((r) => r.epoch > 0 && !down.has(r.node)));
  const documents = of.shards.reduce((n, s, i) => n + (covered[i] ? s.documents : 0), 0);
  return (
    <Panel title={`${of.kind === "table" ? "Table" : "Index"} ${of.name}`} aside={<span class="total">epoch <b>{of.epoch}</b>, <b>{count(of.documents)}</b> {of.kind === "table" ? "rows" : "documents"}</span>}>
      <Facts of={[
        ["Coverage", <span class="coverage" data-collection={of.name}>{percent(documents, of.documents)} ({covered.filter(Boolean).length} of {of.shards.length} shards){down.size > 0 && ` without ${[...down].join(", ")}`}</span>],
        ["Change", of.intent ? <>{of.intent.verb} of epoch {of.intent.epoch}: {of.intent.ready} of {of.intent.total} replicas <Bar part={of.intent.ready} of={of.intent.total} /></> : "none under way"],
        ["Last change", of.failure ? <span class="state missing">✕ <Text of={of.failure} /></span> : ""],
      ]} />
      <Grid label={`Shards of ${of.name}`} fields={[{ head: "Shard", number: true }, { head: "Documents", number: true }, { head: "Size", number: true }, ...nodes.map((n) => ({ head: n })), { head: "Covered" }]}
        rows={of.shards.map((s, i) => [i, count(s.documents), bytes(s.bytes), ...nodes.map((n) => {
          const r = s.replicas.find((r) => r.node === n);
          if (!r) return "";
          const kind = r.error ? "missing" : r.epoch === 0 || r.lag > 0 ? "note" : "ok";
          return <span class={`state ${kind}`} title={r.error}>{r.error ? "✕ error" : r.epoch === 0 ? "• not open" : r.lag > 0 ? `• epoch ${r.epoch}, ${r.lag} behind` : `✓ epoch ${r.epoch}`}</span>;
        }), <span class={`state ${covered[i] ? "ok" : "missing"}`}>{covered[i] ? "✓ yes" : "✕ no"}</span>])} />
    </Panel>
  );
}
