// Page Indexes: the indexes of the server, their contents, terms and codecs.
import { useEffect, useState } from "preact/hooks";
import { indexPath } from "./api";
import { bytes, count, digits, several } from "./format";
import { Bar, Curl, Facts, Failure, Grid, Panel, Residents, Text, useLoad, Waiting } from "./parts";
import type { Index, IndexDetails, PostingList, TermDetails } from "./types";

export function Indexes({ parameters }: { parameters: URLSearchParams }) {
  const indexes = useLoad<{ indexes: Index[] }>("/v1/indexes");
  const [chosen, setChosen] = useState(parameters.get("index") ?? "");
  if (indexes.error) return <Failure error={indexes.error} />;
  if (!indexes.value) return <Waiting what="indexes" />;
  const all = indexes.value.indexes;
  if (all.length === 0) return <p class="notice">The server has no index. Start it with <code>--index NAME=FILE</code>.</p>;
  const name = all.some((x) => x.name === chosen) ? chosen : all[0].name;
  return (
    <>
      <Panel title="In service" aside={<Curl path="/v1/indexes" />}>
        <Grid label="Indexes" marked={all.findIndex((x) => x.name === name)}
          fields={[{ head: "Index" }, { head: "State" }, { head: "Documents", number: true }, { head: "Lists", number: true }, { head: "Checksum" }]}
          rows={all.map((x) => [
            <button type="button" class="link" aria-pressed={x.name === name} onClick={() => setChosen(x.name)}><Text of={x.name} /></button>,
            <span class={`state ${x.ready ? "ok" : "note"}`}>{x.ready ? "✓ ready" : "• loading"}</span>, count(x.docs), count(x.lists), <code>{x.checksum ?? ""}</code>])} />
      </Panel>
      <Details key={name} name={name} start={parameters} />
    </>
  );
}

function Details({ name, start }: { name: string; start: URLSearchParams }) {
  const details = useLoad<IndexDetails>(indexPath(name, "details"));
  const [prefix, setPrefix] = useState(start.get("prefix") ?? "");
  const [term, setTerm] = useState(start.get("term") ?? "");
  useEffect(() => {
    history.replaceState(null, "", `#/indexes?${new URLSearchParams({ index: name, ...(prefix && { prefix }), ...(term && { term }) })}`);
  }, [name, prefix, term]);
  const d = details.value;
  if (details.error) return <Failure error={details.error} />;
  if (!d) return <Waiting what={name} />;
  return (
    <div class="columns">
      <div class="column">
        <Panel title={`Contents of ${d.name}`} aside={<Curl path={indexPath(name, "details")} />}>
          <Facts of={[
            [d.segments ? "Folder" : "File", <><Text of={d.file} />, {bytes(d.bytes)}</>],
            d.segments ? ["State", `${count(d.state)}, ${several(d.segments, "segment")}`] : ["Checksum", <code>{d.checksum}</code>], ["Creator", <Text of={d.creator} />], ["Source", d.format ?? ""],
            ["Documents", count(d.documents)], ["Terms", count(d.terms)], ["Postings", count(d.postings)], ["Tokens", count(d.tokens)], ["Mean length", `${digits(d.mean_length)} tokens`],
            ["Analysis", `${d.tokenizer}, stemmer ${d.stemmer}, ${count(d.stop_words)} stop words`], ["Texts", d.texts ? "stored" : "not stored"], ["Codec", d.codec],
          ]} />
        </Panel>
        <Panel title="Codecs">
          <Grid label="Codecs" fields={[{ head: "Codec" }, { head: "Lists", number: true }, { head: "Postings", number: true }, { head: "Size", number: true }, { head: "Bar", class: "bars" }, { head: "Bits a posting", number: true }]}
            rows={d.codecs.map((c) => [c.codec, count(c.lists), count(c.postings), bytes(c.bytes), <Bar part={c.bytes} of={Math.max(...d.codecs.map((x) => x.bytes))} />, digits(c.bits_per_posting)])} />
        </Panel>
        <Panel title={d.segments ? "Sections of the files" : "Sections of the file"}>
          <Grid label="Sections of the file" fields={[{ head: "Section" }, { head: "Size", number: true }, { head: "Bar", class: "bars" }]}
            rows={d.sections.filter((s) => s.bytes > 0).map((s) => [s.name, bytes(s.bytes), <Bar part={s.bytes} of={d.bytes} />])} />
        </Panel>
        <Panel title="Residence"><Residents of={d.resident} /></Panel>
      </div>
      <div class="column">
        <Panel title="Terms" aside={<Curl path={indexPath(name, "terms")} body={{ prefix }} />}>
          <label class="field"><span>Prefix</span><input class="code" value={prefix} spellcheck={false} autocomplete="off" autocapitalize="none" onInput={(e) => setPrefix(e.currentTarget.value)} /></label>
          <Terms key={prefix} name={name} prefix={prefix} chosen={term} onChoose={setTerm} />
        </Panel>
        {term && <Costs name={name} term={term} />}
      </div>
    </div>
  );
}

function Terms({ name, prefix, chosen, onChoose }: { name: string; prefix: string; chosen: string; onChoose: (t: string) => void }) {
  const [pages, setPages] = useState<string[]>([""]);
  const after = pages.at(-1)!;
  const found = useLoad<{ terms: PostingList[]; more: boolean }>(indexPath(name, "terms"), { prefix, limit: 50, after });
  if (found.error) return <Failure error={found.error} />;
  if (!found.value) return <Waiting what="terms" />;
  const { terms, more } = found.value;
  if (terms.length === 0) return <p class="hint">No term begins so.</p>;
  const most = Math.max(...terms.map((t) => t.documents));
  return (
    <>
      <Grid label="Terms" marked={terms.findIndex((t) => t.term === chosen)}
        fields={[{ head: "Term" }, { head: "Documents", number: true }, { head: "Bar", class: "bars" }, { head: "Codec" }, { head: "Size", number: true }]}
        rows={terms.map((t) => [<button type="button" class="link" aria-pressed={t.term === chosen} onClick={() => onChoose(t.term)}><Text of={t.term} /></button>, count(t.documents), <Bar part={t.documents} of={most} />, t.codec, bytes(t.bytes)])} />
      <p class="line">
        <button type="button" disabled={pages.length === 1} onClick={() => setPages(pages.slice(0, -1))}>Previous</button>
        <button type="button" disabled={!more} onClick={() => setPages([...pages, terms.at(-1)!.term])}>Next</button>
      </p>
    </>
  );
}

function Costs({ name, term }: { name: string; term: string }) {
  const found = useLoad<TermDetails>(indexPath(name, "term"), { term });
  const t = found.value;
  if (found.error) return <Failure error={found.error} />;
  if (!t) return <Waiting what={term} />;
  const most = Math.max(...t.costs.map((c) => c.bits_per_posting + c.time_bits));
  const sorted = [...t.costs].sort((a, b) => a.bits_per_posting + a.time_bits - b.bits_per_posting - b.time_bits);
  return (
    <Panel title="Posting list" aside={<Curl path={indexPath(name, "term")} body={{ term }} />}>
      <Facts of={[["Term", <Text of={t.term} />], ["Documents", count(t.documents)], ["Occurrences", count(t.occurrences)], ["Codec", `${t.codec}: ${t.reason ?? ""}`], ["Size", bytes(t.bytes)]]} />
      <h3>Cost under each codec</h3>
      <p class="hint">Bits a posting (full), and decoding time as bits (hatched). The codec in use has a mark.</p>
      <ul class="lists costs" id="costs">
        {sorted.map((c) => (
          <li key={c.codec}>
            <span class="name">{c.codec}{c.codec === t.codec && <b> ✓ in use</b>}</span>
            <span class="stack" aria-hidden="true"><span class="size" style={{ width: `${(100 * c.bits_per_posting) / most}%` }} /><span class="work" style={{ width: `${(100 * c.time_bits) / most}%` }} /></span>
            <span class="number">{digits(c.bits_per_posting + c.time_bits)}</span>
            <small>{digits(c.bits_per_posting)} bits, time {digits(c.time_bits)}; {bytes(c.bytes)}</small>
          </li>))}
      </ul>
    </Panel>
  );
}
