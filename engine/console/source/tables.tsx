// Page Tables: columns with their bins, a predicate, its rows, and the plan of the selection.
import { useEffect, useRef, useState } from "preact/hooks";
import { Aggregates, isNumber, valueOf } from "./aggregates";
import type { Values } from "./aggregates";
import { call, Problem, tablePath } from "./api";
import { WayOf } from "./explain";
import { both, bytes, count, percent, time } from "./format";
import { Export, History, remember } from "./history";
import { Histogram, rangeOf } from "./histogram";
import { Bar, Choice, Curl, Facts, Failure, Grid, Panel, Residents, Text, Total, useCheck, useLoad, Waiting } from "./parts";
import type { Column, Selected, Table, TableDetails } from "./types";
import { kernelHint, Tree } from "./why";

const shownRows = 200;

export function Tables({ parameters }: { parameters: URLSearchParams }) {
  const tables = useLoad<{ tables: Table[] }>("/v1/tables");
  const [chosen, setChosen] = useState(parameters.get("table") ?? "");
  const names = tables.value?.tables.filter((t) => t.ready).map((t) => t.name) ?? [];
  const name = names.includes(chosen) ? chosen : names[0] ?? "";
  const details = useLoad<TableDetails>(name && tablePath(name, "details"));
  if (tables.error) return <Failure error={tables.error} />;
  if (!tables.value) return <Waiting what="tables" />;
  if (!name) return <p class="notice">The server has no table. Start it with <code>--table NAME=FILE</code>.</p>;
  return (
    <>
      {names.length > 1 && <div class="panel line"><Choice label="Table" value={name} options={names} onChange={setChosen} /></div>}
      <Failure error={details.error} />
      {details.value ? <One key={name} of={details.value} start={parameters.get("where") ?? ""} by={parameters.get("group") ?? ""} /> : !details.error && <Waiting what={name} />}
    </>
  );
}

interface Outcome { path: string; body: object; where: string; group: string; value?: Selected; error?: Problem }

function One({ of, start, by }: { of: TableDetails; start: string; by: string }) {
  const [where, setWhere] = useState(start);
  const [group, setGroup] = useState(of.columns.some((c) => c.name === by) ? by : "");
  const [outcome, setOutcome] = useState<Outcome>();
  const [ranges, setRanges] = useState<Record<string, { text: string; from: number; to: number }>>({});
  const turn = useRef(0);

  async function run(text = where, by = group) {
    const mine = ++turn.current;
    const path = tablePath(of.name, "inspect");
    const body = { where: text, limit: shownRows, ...(by && { group_by: by }) };
    remember(`#/tables?${new URLSearchParams({ table: of.name, where: text, ...(by && { group: by }) })}`, [of.name, text, by && `by ${by}`].filter((t) => t).join(" · "));
    const end = (o: Partial<Outcome>) => { if (mine === turn.current) setOutcome({ path, body, where: text, group: by, ...o }); };
    try {
      end({ value: await call<Selected>(path, body) });
    } catch (e) {
      end({ error: e as Problem });
    }
  }

  useEffect(() => { run(); }, []);

  // select makes the range of a column a part of the predicate, in place of the earlier range.
  function select(c: Column, from: number, to: number) {
    const text = rangeOf(c, from, to);
    const old = ranges[c.name]?.text;
    let next = where.trim();
    if (old && next.includes(old)) next = next.replace(old, text);
    else next = both(next, text);
    setRanges({ ...ranges, [c.name]: { text, from, to } });
    setWhere(next);
    run(next);
  }

  const { wrong } = useCheck(tablePath(of.name, "parse"), where, { where });
  const shown = outcome?.value;
  return (
    <>
      <form class="panel query" onSubmit={(e) => { e.preventDefault(); run(); }}>
        <div class="line">
          <label class="field wide"><span>Predicate</span>
            <input class="code" value={where} spellcheck={false} autocomplete="off" autocapitalize="none" aria-invalid={!!(wrong ?? outcome?.error)} aria-describedby="fault"
              placeholder="delay >= 60 AND distance < 500" onInput={(e) => setWhere(e.currentTarget.value)} />
          </label>
          <Choice label="Group by" value={group} options={[["", "no column"], ...of.columns.map((c): [string, string] => [c.name, c.name])]} onChange={(g) => { setGroup(g); run(where, g); }} />
          <button class="primary">Select</button>
          <button type="button" onClick={() => { setWhere(""); setRanges({}); run(""); }}>Clear</button>
          <History page="tables" />
        </div>
        <div id="fault" aria-live="polite"><Failure error={wrong ?? outcome?.error} text={wrong ? where : outcome?.where} /></div>
      </form>
      <div class="columns">
        <div class="column">
          <Panel title="Columns" aside={<Total n={of.rows} unit="rows" />}>
            <p class="hint">Drag over the bins of a column, or use its two sliders, to select a range.</p>
            {of.columns.map((c) => (
              <Histogram key={c.name} of={c} range={where.includes(ranges[c.name]?.text ?? "\0") ? ranges[c.name] : undefined}
                groups={outcome?.group === c.name ? shown?.groups : undefined} onSelect={(from, to) => select(c, from, to)} />))}
          </Panel>
          <Panel title="File"><Facts of={[["File", <Text of={of.file} />], ["Checksum", <code>{of.checksum}</code>]]} /><Residents of={of.resident} /></Panel>
        </div>
        {shown && (
          <div class="column">
            <Panel title="Rows" aside={<span class="total" id="count"><b>{count(shown.count)}</b> of {count(of.rows)}, {percent(shown.count, of.rows)}</span>}>
              <Bar part={shown.count} of={of.rows} />
              {shown.count > 0 && <RowValues key={outcome!.where} table={of.name} where={outcome!.where} columns={of.columns.map((c) => c.name)} rows={shown.rows} count={shown.count} />}
            </Panel>
            {outcome!.group && shown.groups.length > 0 && <Groups of={of.columns.find((c) => c.name === outcome!.group)!} groups={shown.groups} total={shown.count} onChoose={(w) => { const next = both(where, w); setWhere(next); run(next); }} />}
            <Aggregates table={of.name} where={outcome!.where} />
            <Plan of={shown} path={outcome!.path} body={outcome!.body} />
          </div>)}
      </div>
    </>
  );
}

const pageRows = 20;

// RowValues shows the selected rows with their values, page by page.
function RowValues({ table, where, columns, rows, count: all }: { table: string; where: string; columns: string[]; rows: number[]; count: number }) {
  const [first, setFirst] = useState(0);
  const select = columns.map((c) => `"${c.replaceAll('"', '""')}"`).join(", ");
  const path = tablePath(table, "aggregate"), body = { select, ...(where.trim() && { where }), limit: pageRows, offset: first };
  const found = useLoad<{ columns: Values[] }>(path, body);
  const page = found.value ?? found.last;
  if (found.error) return <Failure error={found.error} />;
  if (!page) return <Waiting what="rows" />;
  const numbers = rows.slice(first, first + pageRows);
  return (
    <div class="rows">
      <Grid label="Rows and their values" fields={[{ head: "Row", number: true }, ...page.columns.map((c) => ({ head: c.name, number: isNumber(c) }))]}
        rows={numbers.map((n, i) => [count(n), ...page.columns.map((c) => valueOf(c, i))])} />
      <p class="line">
        <button type="button" disabled={first === 0} onClick={() => setFirst(first - pageRows)}>Previous rows</button>
        <button type="button" disabled={first + pageRows >= rows.length} onClick={() => setFirst(first + pageRows)}>Next rows</button>
        <span class="hint">{count(first + 1)} to {count(first + numbers.length)} of {count(all)}</span>
        <Export name={`${table}-rows`} rows={numbers.map((n, i) => ({ row: n, ...Object.fromEntries(page.columns.map((c) => [c.name, c.missing.includes(i) ? null : isNumber(c) && Number.isSafeInteger(Number(c.values[i])) ? Number(c.values[i]) : c.values[i]])) }))} />
        <Curl path={path} body={body} />
      </p>
    </div>
  );
}

// Groups has a line for each bin with rows. Its value leads to these rows.
function Groups({ of, groups, total, onChoose }: { of: Column; groups: number[]; total: number; onChoose: (where: string) => void }) {
  const rows = of.bins.map((b, i) => ({ bin: b, rows: groups[i] ?? 0 })).filter((g) => g.rows > 0);
  const most = Math.max(...rows.map((g) => g.rows));
  return (
    <Panel title={`Groups by ${of.name}`} aside={<span class="total"><Total n={rows.length} unit="groups" /> <Export name={`groups-by-${of.name}`} rows={rows.map((g) => ({ low: g.bin.low, high: g.bin.high, rows: g.rows }))} /></span>}>
      <Grid label={`Groups by ${of.name}`} fields={[{ head: "Value" }, { head: "Rows", number: true }, { head: "Bar", class: "bars" }, { head: "Part", number: true }, { head: "Of the bin", number: true }]}
        rows={rows.map((g) => [<button type="button" class="link" onClick={() => onChoose(g.bin.where)}><Text of={g.bin.low === g.bin.high ? g.bin.low : `${g.bin.low} to ${g.bin.high}`} /></button>, count(g.rows), <Bar part={g.rows} of={most} />, percent(g.rows, total), percent(g.rows, g.bin.rows)])} />
    </Panel>
  );
}

function Plan({ of, path, body }: { of: Selected; path: string; body: object }) {
  return (
    <Panel title="Plan" class="way" aside={<Curl path={path} body={body} />}>
      <Facts of={[
        ["Predicate", <code><Text of={of.where} /></code>],
        ["Vectors read", <span id="vectors">{count(of.vectors)} ({bytes(of.bytes)})</span>],
        ["Rows checked", <span id="checked">{count(of.rows_checked)}{of.tests.length > 1 && " in all columns together"}</span>],
        ["Strategy", of.strategy ?? ""], ["Compiled in", time(of.compile_ms)],
        ["Row by row", of.compared.length ? of.compared.join(", ") : ""],
      ]} />
      {of.tests.length > 0 && (
        <Grid label="Tests of columns" fields={[{ head: "Column" }, { head: "Values" }, { head: "Bins", number: true }, { head: "Whole", number: true }, { head: "Checked", number: true }]}
          rows={of.tests.map((t) => [<Text of={t.column} />, <Text of={t.ranges.join(", ") + (t.missing ? " or missing" : "")} />, count(t.bins), count(t.whole), count(t.checked)])} />)}
      <WayOf way={of.way} />
      <h3>Steps</h3>
      <Tree of={[of.plan]} whole={of.plan.ms} />
      <p class="hint">{kernelHint}</p>
    </Panel>
  );
}
