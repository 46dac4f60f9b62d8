// Page Live: the load of the engine, from the events of the last ten minutes.
import { useEffect, useState } from "preact/hooks";
import { Chart } from "./chart";
import type { Line } from "./chart";
import { bytes, count, digits, percent, short, time, visible } from "./format";
import { Choice, Curl, Failure, Waiting } from "./parts";
import { recorder } from "./recorder";
import type { ProcessorStatus, Status } from "./types";

export function Live() {
  const [, redraw] = useState(0);
  const [paused, setPaused] = useState(recorder.paused);
  useEffect(() => {
    recorder.start();
    let asked = 0;
    const listen = () => { if (!asked) asked = requestAnimationFrame(() => { asked = 0; redraw((n) => n + 1); }); };
    recorder.listeners.add(listen);
    return () => { recorder.listeners.delete(listen); cancelAnimationFrame(asked); };
  }, []);
  const all = recorder.all, last = all.at(-1);
  return (
    <>
      <div class="panel line">
        <Choice label="Update" value={String(recorder.interval)} options={[["100", "10 per second"], ["1000", "each second"], ["5000", "each 5 seconds"]]} onChange={(v) => { recorder.follow(Number(v)); redraw((n) => n + 1); }} />
        <button type="button" aria-pressed={paused} onClick={() => { recorder.paused = !paused; setPaused(!paused); recorder.tell(); }}>{paused ? "Continue" : "Pause"}</button>
        <Curl path="/v1/events" />
      </div>
      <Failure error={recorder.error} />
      {last ? <><Now of={last} /><Charts all={all} /></> : !recorder.error && <Waiting what="events" />}
    </>
  );
}

function Now({ of }: { of: Status }) {
  const queries = of.processors.reduce((n, p) => n + p.queries_per_second, 0);
  const hits = of.answers.hits, asked = hits + of.answers.misses;
  const waiting = of.queue.either + of.queue.device + of.queue.host;
  return (
    <dl class="tiles">
      <div><dt>Queries per second</dt><dd id="rate">{short(Math.round(queries))}</dd></div>
      <div><dt>Mode</dt><dd>{of.mode}<small>{of.mode === "sync" ? "in batches" : "each alone"}</small></dd></div>
      <div><dt>Load</dt><dd>{percent(of.load)}<small>of capacity</small></dd></div>
      <div><dt>Queue</dt><dd>{count(waiting)}<small>of {short(of.queue.capacity)}</small></dd></div>
      <div><dt>Cache of answers</dt><dd>{asked ? percent(hits, asked) : "–"}<small>{of.answers.capacity ? bytes(of.answers.bytes) : "off"}</small></dd></div>
      <div><dt>Refused, expired, failed</dt><dd>{count(of.refused)}, {count(of.expired)}, {count(of.failed)}<small>in {time(of.interval_ms)}</small></dd></div>
    </dl>
  );
}

function Charts({ all }: { all: Status[] }) {
  const times = all.map((s) => s.time_ms / 1000);
  const processors = all.at(-1)!.processors;
  // each makes a line of a value for each processor.
  const each = (value: (p: ProcessorStatus) => number | null, suffix = ""): Line[] =>
    processors.map((p, i) => ({ name: visible(p.name) + suffix, values: all.map((s) => (s.processors[i] ? value(s.processors[i]) : null)) }));
  const some = (n: number) => (n > 0 ? n : null);
  const lists = processors.some((p) => p.lists);
  return (
    <div class="charts">
      <Chart title="Queries per second" times={times} unit={short} lines={each((p) => p.queries_per_second)} />
      <Chart title="Time of a query" note="median and 99th percentile" times={times} unit={time} lines={[...each((p) => some(p.p50_ms), " p50"), ...each((p) => some(p.p99_ms), " p99")]} />
      <Chart title="Queue" note="jobs by preferred processors" times={times} unit={short} lines={(["either", "device", "host"] as const).map((c) => ({ name: c, values: all.map((s) => s.queue[c]) }))} />
      <Chart title="Batch size" note="mean jobs in a batch" times={times} unit={digits} lines={each((p) => some(p.batch))} />
      <Chart title="Busy" note="run time of batches; above 100 % they overlap" times={times} unit={(n) => percent(n)} lines={each((p) => p.busy)} />
      <Chart title="Load and mode" note="work that arrives, of the capacity; 100 % if queries run in batches" times={times} unit={(n) => percent(n)}
        lines={[{ name: "load", values: all.map((s) => s.load) }, { name: "batches", values: all.map((s) => (s.mode === "sync" ? 1 : 0)) }]} />
      <Chart title="Cache hits" times={times} unit={(n) => percent(n)}
        lines={[{ name: "answers", values: all.map((s) => (s.answers.hits + s.answers.misses ? s.answers.hits / (s.answers.hits + s.answers.misses) : null)) },
          ...(lists ? each((p) => (p.lists && p.lists.hits + p.lists.misses ? p.lists.hits / (p.lists.hits + p.lists.misses) : null), " lists") : [])]} />
      <Chart title="Prediction error" note="of batch times, without sign" times={times} unit={(n) => percent(n)} lines={each((p) => some(p.prediction_error))} />
      <Chart title="Memory" note="lists, tables and scratch" times={times} unit={bytes} lines={each((p) => p.memory)} />
    </div>
  );
}
