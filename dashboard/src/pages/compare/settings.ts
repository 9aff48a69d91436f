/** What a column ran with: the fields of its request, as a configuration shows them. */
import { kindOf } from '../../../../src/core/jobs/kinds.js';
import { canonicalJson } from '../../../../src/util/json.js';
import type { Answer } from '../../../../src/client/index.js';
import { client } from '../../data/client.js';
import { kindOfRun } from '../../data/kinds.js';
import { readRequest } from '../../data/request.js';
import { numberOf } from '../../data/search.js';
import { datasetName } from '../../ui/dataset-link.js';
import { clock, count, makerOf } from '../../util/format.js';
import { factsOf, sectionTitles, splitWords, type Fact } from '../configuration/sections.js';
import type { Column } from './types.js';

export interface Setting {
  section: string;
  /** One of each in a column. */
  label: string;
  shown: string;
  /** The same for equal values alone, however they are shown. */
  key: string;
}
export type Settings = ReadonlyMap<string, Setting>;

const runSection = 'Run';

/** What the settings of a column are found by. */
export type SettledColumn = Pick<Column, 'id' | 'kind' | 'job_id' | 'candidate_id' | 'prompt_tokens'>;

/** A run, though it cannot be compared; null: the id is none of a run. */
export function settledRun(id: string): SettledColumn | null {
  const kind = kindOf(id);
  if (kind !== 'session' && kind !== 'evaluation' && kind !== 'graph') return null;
  return { id, kind, job_id: id, candidate_id: null, prompt_tokens: null };
}

/** The settings of a column. */
export async function loadSettings(column: SettledColumn, signal: AbortSignal): Promise<Settings> {
  const run = await readRun(column.job_id, signal);
  const { facts, split } = await loadRequest(column, run, signal);
  const { candidate_id: candidate, prompt_tokens: tokens } = column;
  const known = new Map<string, Setting>();
  const add = (section: string, label: string, shown: string | null | undefined, key = shown) => {
    if (shown) known.set(label, { section, label, shown, key: key! });
  };
  for (const { pointer, section, label, value, raw } of facts)
    add(section, known.has(label) ? pointer : label, value, canonicalJson(raw));
  if (split) add('Data', 'Split', splitWords(split), canonicalJson(split));
  add('Prompt', 'Candidate', candidate && `candidate ${numberOf(candidate)}`, candidate);
  add('Prompt', 'Prompt, tokens', tokens === null ? null : count(tokens));
  add(runSection, 'Created', clock(run.created_at));
  add(runSection, 'By', run.created_by && makerOf(run.created_by));
  add(runSection, 'Status', run.status);
  return known;
}

/** The labels by section, in the order of a configuration. */
export function rowsOf(settings: readonly Settings[], onlyDiffering: boolean): { section: string; labels: string[] }[] {
  const all = new Map(settings.flatMap((of) => [...of.values()]).map(({ label, section }) => [label, section]));
  const differs = (label: string) => new Set(settings.map((of) => of.get(label)?.key)).size > 1;
  return [...sectionTitles, runSection].flatMap((section) => {
    const labels = [...all.keys()].filter((label) => all.get(label) === section && (!onlyDiffering || differs(label)));
    return labels.length === 0 ? [] : [{ section, labels }];
  });
}

/** The values of a label in the columns; those that read alike and are not have a number. */
export function valuesOf(settings: readonly Settings[], label: string): (string | null)[] {
  const all = settings.map((of) => of.get(label) ?? null);
  return all.map((setting) => {
    if (!setting) return null;
    const alike = [...new Set(all.flatMap((each) => (each?.shown === setting.shown ? [each.key] : [])))];
    return alike.length === 1 ? setting.shown : `${setting.shown} (${alike.indexOf(setting.key) + 1})`;
  });
}

type Split = Record<'train' | 'evaluation' | 'heldout', number[]>;

interface Request {
  facts: Fact[];
  split: Split | undefined;
}

/** The request of the run, or of the run that a deployed or evaluated prompt is of. */
async function loadRequest(column: SettledColumn, run: Run, signal: AbortSignal): Promise<Request> {
  const { job_id: id } = column;
  const own = await requestOf(id, run, signal);
  if (own || kindOfRun(id) !== 'evaluation') return own ?? { facts: [], split: undefined };
  // A gate, a migration or a checkup made the evaluation.
  const origin = (await sourceOf(column, signal)) ?? run.candidate?.session_id;
  const made = origin ? await requestOf(origin, await readRun(origin, signal), signal) : null;
  const { policy, dataset } = run as Answer<'getEvaluation'>;
  const { provider, model } = policy;
  const onRows = dataset && { dataset: { dataset_id: dataset.dataset_id }, scorer: dataset.scorer };
  const ran = named(factsOf({ policy: { provider, model }, ...(!made && onRows) }), dataset ?? null);
  const others = made?.facts.filter(({ label }) => ran.every((fact) => fact.label !== label)) ?? [];
  return { facts: [...ran, ...others], split: made?.split };
}

/** The run that a version of a deployment is of; null: of none. */
async function sourceOf({ kind, id }: SettledColumn, signal: AbortSignal): Promise<string | null> {
  if (kind !== 'deployment') return null;
  const { source } = await client.value.deployments.handle(id).get({ signal });
  return source.session_id ?? source.graph_job_id;
}

/** null: no request made it. */
async function requestOf(id: string, { split }: Run, signal: AbortSignal): Promise<Request | null> {
  const { request, dataset } = await readRequest(id, null, signal);
  return request && { facts: named(factsOf(request), dataset), split };
}

/** With the name of the data set in place of its id. */
function named(facts: Fact[], dataset: { dataset_id: string; num_rows: number; name: string | null } | null): Fact[] {
  if (!dataset) return facts;
  const value = `${datasetName(dataset)}, ${count(dataset.num_rows)} rows`;
  return facts.map((fact) => (fact.pointer.endsWith('/dataset_id') ? { ...fact, value } : fact));
}

interface Run {
  status: string;
  created_at: string;
  created_by: { key_id: string; key_name: string } | null;
  split?: Split;
  candidate?: { session_id: string | null } | null;
}

const readRun = (id: string, signal: AbortSignal) => client.value.handle(id).get({ signal }) as Promise<Run>;
