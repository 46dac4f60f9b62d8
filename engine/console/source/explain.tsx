// The explanation of a query as a picture: posting lists, processors, times.
import { bytes, count, digits, percent, time } from "./format";
import { Bar, Facts, Text } from "./parts";
import type { Answer, Way } from "./types";

const shownLists = 20;

export function Explanation({ of, ranked }: { of: Answer; ranked: boolean }) {
  const most = Math.max(1, ...of.lists.map((l) => l.documents));
  return (
    <div class="explanation">
      <h3>Posting lists</h3>
      {of.lists.length === 0 && <p class="hint">No list.</p>}
      <ul class="lists">
        {of.lists.slice(0, shownLists).map((l) => (
          <li key={l.term}>
            <span class="name"><Text of={l.term} /></span>
            <Bar part={l.documents} of={most} />
            <span class="number">{count(l.documents)}</span>
            <small>{l.codec}, {bytes(l.bytes)}{ranked ? `, weight ${digits(l.weight)}` : l.method ? `; ${l.method}` : ""}</small>
          </li>))}
      </ul>
      {of.lists.length > shownLists && <p class="hint">and {of.lists.length - shownLists} longer lists</p>}
      {of.unknown.length > 0 && <p class="hint">In no document: {of.unknown.map((t, i) => <>{i > 0 && ", "}<Text of={t} /></>)}</p>}
      <Facts of={[["Expression", of.expression ? <code><Text of={of.expression} /></code> : ""], ["Algorithm", of.algorithm ?? ""]]} />
      {of.explanation ? <><h3>Segments</h3><pre class="words">{of.explanation}</pre><Facts of={[["Time", time(of.way.took_ms)]]} /></> : <WayOf way={of.way} />}
    </div>
  );
}

export function WayOf({ way }: { way: Way }) {
  if (way.cached) {
    return <><h3>Time</h3><Facts of={[["Cache of answers", "hit: no processor ran"], ["Time", time(way.took_ms)]]} /></>;
  }
  const off = way.ran_ms > 0 ? (way.estimate_ms - way.ran_ms) / way.ran_ms : 0;
  const most = Math.max(way.ran_ms, ...way.estimates.map((e) => e.ms));
  return (
    <>
      <h3>Processors</h3>
      <ul class="lists costs">
        {way.estimates.map((e) => (
          <li key={e.processor}>
            <span class="name"><Text of={e.processor} />{e.processor === way.processor && <b> ran</b>}</span>
            <Bar part={e.ms} of={most} kind="estimate" />
            <span class="number">{time(e.ms)}</span>
            <small>estimated, alone</small>
          </li>))}
        <li>
          <span class="name">Run time</span>
          <Bar part={way.ran_ms} of={most} />
          <span class="number">{time(way.ran_ms)}</span>
          <small>{way.batch > 1 ? `batch of ${way.batch}, ` : "alone, "}estimated {time(way.estimate_ms)} ({off >= 0 ? "+" : "−"}{Math.abs(100 * off).toFixed(0)} %)</small>
        </li>
      </ul>
      <h3>Time</h3>
      <Stages way={way} />
      <Facts of={[
        ["Scheduled", `${way.mode === "sync" ? "in a batch (sync)" : "alone (async)"}, class ${way.class}`],
        ["Cache of answers", "not used"],
        ["Cache of lists", way.missing_bytes > 0 ? `${bytes(way.missing_bytes)} were not resident` : "all lists were resident"],
        ["Transfers", way.bytes_up + way.bytes_down > 0 ? `${bytes(way.bytes_up)} up, ${bytes(way.bytes_down)} down` : ""],
        ["Attempts", way.attempts > 1 ? way.attempts : ""],
      ]} />
    </>
  );
}

// Stages is a bar of the time from arrival to answer. A pattern and a letter, not colour alone, tell
// the parts apart.
function Stages({ way }: { way: Way }) {
  const measured = way.stages.reduce((sum, s) => sum + s.ms, 0);
  const parts = [{ name: "queue", ms: way.queued_ms }, ...way.stages, { name: way.stages.length ? "other work of the processor" : "run", ms: Math.max(0, way.ran_ms - measured) },
    { name: "before and after", ms: Math.max(0, way.took_ms - way.queued_ms - Math.max(way.ran_ms, measured)) }].filter((p) => p.ms > 0);
  const total = parts.reduce((sum, p) => sum + p.ms, 0);
  return (
    <div class="stages">
      <div class="strip" aria-hidden="true">
        {parts.map((p, i) => <span key={p.name} class={`tone${i % 6}`} style={{ flexGrow: String(p.ms / total) }}>{p.ms / total > 0.06 ? "abcdefghij"[i] : ""}</span>)}
      </div>
      <ol>
        {parts.map((p, i) => <li key={p.name}><span class={`key tone${i % 6}`} aria-hidden="true">{"abcdefghij"[i]}</span>{p.name} <b>{time(p.ms)}</b> <small>{percent(p.ms, total)}</small></li>)}
      </ol>
      {way.bytes_up > 0 && way.stages.length === 0 && <p class="hint">The setting <code>devices.profiling</code> shows the stages of a device.</p>}
      <p class="total"><b>{time(way.took_ms)}</b> from arrival to answer</p>
    </div>
  );
}
