// Page Live: the load of the engine, from the events of the last 15 minutes.
import { useEffect, useState } from "preact/hooks";
import { Chart } from "./chart";
import type { Line } from "./chart";
import { bytes, count, digits, percent, short, time, visible } from "./format";
import { Choice, Curl, Failure, Waiting } from "./parts";
import { recorder } from "./recorder";
import type { Cache, ProcessorStatus, Status } from "./types";

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
  const processors = all.at(-1)!.processors;
  // each makes a line of a value for each processor.
  const each = (value: (p: ProcessorStatus) => number | null, suffix = ""): Line[] =>
    processors.map((p, i) => ({ name: visible(p.name) + suffix, value: (s) => (s.processors[i] ? value(s.processors[i]) : null) }));
  const some = (n: number) => (n > 0 ? n : null);
  const hits = (c?: Cache) => (c && c.hits + c.misses ? c.hits / (c.hits + c.misses) : null);
  const chart = (title: string, unit: (n: number) => string, lines: Line[], note?: string) => <Chart title={title} note={note} all={all} unit={unit} lines={lines} />;
  return (
    <div class="charts">
      {chart("Queries per second", short, each((p) => p.queries_per_second))}
      {chart("Time of a query", time, [...each((p) => some(p.p50_ms), " p50"), ...each((p) => some(p.p99_ms), " p99")], "median and 99th percentile")}
      {chart("Queue", short, (["either", "device", "host"] as const).map((c) => ({ name: c, value: (s) => s.queue[c] })), "jobs by preferred processors")}
      {chart("Batch size", digits, each((p) => some(p.batch)), "mean jobs in a batch")}
      {chart("Busy", percent, each((p) => p.busy), "run time of batches; above 100 % they overlap")}
      {chart("Load and mode", percent, [{ name: "load", value: (s) => s.load }, { name: "batches", value: (s) => (s.mode === "sync" ? 1 : 0) }], "work that arrives, of the capacity; 100 % if queries run in batches")}
      {chart("Cache hits", percent, [{ name: "answers", value: (s) => hits(s.answers) }, ...(processors.some((p) => p.lists) ? each((p) => hits(p.lists), " lists") : [])])}
      {chart("Prediction error", percent, each((p) => some(p.prediction_error)), "of batch times, without sign")}
      {chart("Memory", bytes, each((p) => p.memory), "lists, tables and scratch")}
    </div>
  );
}
