// Pages "Why this score" and "Why this way": the parts of a score, and the steps of a query.
import { indexPath } from "./api";
import { bytes, count, digits, percent, several, time } from "./format";
import { Bar, Curl, Facts, Failure, Grid, Panel, Text, useLoad, Waiting } from "./parts";
import type { Answer, Score as Reply, Step } from "./types";

// requestOf reads the request of an address, and the address of the search that led here.
function requestOf(parameters: URLSearchParams): { index: string; body: Record<string, unknown>; from: string } {
  const index = parameters.get("index") ?? "", from = parameters.get("from") ?? "";
  try {
    return { index, from, body: JSON.parse(parameters.get("body") ?? "{}") };
  } catch {
    return { index, from, body: {} };
  }
}

// Back leads to the search.
const Back = ({ from }: { from: string }) => <p><a href={from.startsWith("#/search?") ? from : "#/search"}>Back to the search</a></p>;

const factor = (n: number) => n.toPrecision(5);

export function Score({ parameters }: { parameters: URLSearchParams }) {
  const { index, body: query, from } = requestOf(parameters);
  const path = indexPath(index, "score"), body = { ...query, id: Number(parameters.get("id")) };
  const found = useLoad<Reply>(index && path, body);
  const s = found.value;
  if (!index) return <p class="notice">A score of the page <a href="#/search">Search</a> leads here.</p>;
  if (found.error) return <><Failure error={found.error} text={String(query.query ?? "")} /><Back from={from} /></>;
  if (!s) return <Waiting what="the score" />;
  const inDocument = s.parts.filter((p) => p.frequency > 0), absent = s.parts.filter((p) => p.frequency === 0);
  const most = Math.max(...inDocument.map((p) => p.score));
  return (
    <>
      <Panel title={`Score of ${s.doc || `#${s.id}`}`} aside={<Curl path={path} body={body} />}>
        <Facts of={[
          ["Query", <code><Text of={String(query.query ?? "")} /></code>], ["Score", <b id="score">{s.score}</b>],
          ["Scoring", s.scoring ? `BM25 ${s.scoring.variant}, k1 = ${s.scoring.k1}, b = ${s.scoring.b}` : "impacts, computed when the index was built"],
          ["Collection", s.scoring ? `${several(s.documents, "document")}, mean length ${digits(s.mean_length)} tokens` : ""],
        ]} />
        <p class="hint">Each part is weight times tf, rounded up to a unit of the score. {s.scoring && "tf = f / (f + k1 (1 − b + b · length / mean length)) for the frequency f."}</p>
      </Panel>
      <Panel title="Parts">
        <Grid label="Parts of the score" fields={[{ head: "Term" }, { head: "Boost", number: true }, { head: "Documents", number: true }, { head: "Weight", number: true }, { head: "Frequency", number: true },
          { head: "Length", number: true }, { head: "Mean length", number: true }, { head: "tf", number: true }, { head: "Part", number: true }, { head: "Bar", class: "bars" }]}
          rows={[...inDocument.map((p) => [<Text of={p.term} />, digits(p.boost), count(p.documents), factor(p.weight), digits(p.frequency), s.scoring ? count(p.length) : "–",
            s.scoring ? digits(p.mean_length) : "–", factor(p.tf), factor(p.score), <Bar part={p.score} of={most} />]),
          ["Sum", "", "", "", "", "", "", "", <b>{factor(s.score)}</b>, ""]]} />
        {absent.length > 0 && <p class="hint">Not in this document: {absent.slice(0, 20).map((p, i) => <span key={p.term}>{i > 0 && ", "}<Text of={p.term} /></span>)}{absent.length > 20 && ` and ${absent.length - 20} more`}</p>}
      </Panel>
      <Back from={from} />
    </>
  );
}

export function Way({ parameters }: { parameters: URLSearchParams }) {
  const { index, body: query, from } = requestOf(parameters);
  const path = indexPath(index, "inspect"), body = { ...query, fresh: true };
  const found = useLoad<Answer>(index && path, body);
  if (!index) return <p class="notice">An answer of the page <a href="#/search">Search</a> leads here.</p>;
  if (found.error) return <><Failure error={found.error} text={String(body.query ?? "")} /><Back from={from} /></>;
  if (!found.value) return <Waiting what="the way" />;
  const plan = found.value.plan;
  return (
    <>
      <Panel title="Steps" aside={<Curl path={path} body={body} />}>
        {plan ? <Tree of={[plan]} whole={plan.ms} /> : <pre class="words">{found.value.explanation}</pre>}
        <p class="hint">This query ran again for this page. {kernelHint}</p>
      </Panel>
      <Back from={from} />
    </>
  );
}

// kernelHint names the settings that the steps of kernels depend on.
export const kernelHint = <>Kernels of devices have times with <code>devices.profiling</code>, and bytes and their share of the copy rate of the device with <code>devices.count_loads</code>, too.</>;

// Tree lists steps with the steps inside of them.
export function Tree({ of, whole }: { of: Step[]; whole: number }) {
  return (
    <ul class="tree">
      {of.map((s, i) => (
        <li key={i}>
          <b><Text of={s.name} /></b>{s.detail && <> <span class="hint"><Text of={s.detail} /></span></>}
          {s.ms > 0 && <> <span class="number">{time(s.ms)}</span> <small>{percent(s.ms, whole)}</small></>}
          {s.bytes > 0 && <> <span class="number">{bytes(s.bytes)}</span></>}
          {s.peak > 0 && <> <small>{percent(s.peak)} of the copy rate</small></>}
          {s.steps.length > 0 && <Tree of={s.steps} whole={whole} />}
        </li>))}
    </ul>
  );
}
