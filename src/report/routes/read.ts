/** The report of a job, from what its other routes answer. */
import { firstReward, firstRewardName } from '../../core/comparisons/first-reward.js';
import { candidateId as idOfCandidate } from '../../core/jobs/ids.js';
import { jobKinds } from '../../core/jobs/kinds.js';
import type { EvaluationSpec } from '../../core/jobs/spec.js';
import { graphFromJson } from '../../core/graphs/json.js';
import { graphText } from '../../core/graphs/text.js';
import { renderPrompt, type Demo } from '../../core/prompts/demos.js';
import type { Message } from '../../core/prompts/message.js';
import type { RowGroup } from '../../core/rows/groups.js';
import { readGraph } from '../../candidates/store/candidates.js';
import { readCandidates, readPrompt } from '../../candidates/store/reads.js';
import { bestView, outcomeView } from '../../candidates/routes/search-view.js';
import { readDataset } from '../../datasets/store/datasets.js';
import { readEvaluationDiagnosis, readSearchDiagnosis } from '../../diagnosis/routes/read.js';
import { usageView } from '../../jobs/routes/view.js';
import type { EvaluationHead, GraphHead, JobRow, SessionHead } from '../../jobs/store/jobs.js';
import { readRequest, readSpec } from '../../jobs/store/spec.js';
import { readUsage } from '../../jobs/store/usage.js';
import type { Tx } from '../../platform/db/db.js';
import { intervalOfTotals, readTotals } from '../../rollouts/store/totals.js';
import { readPageTexts } from '../../rows/routes/page-texts.js';
import { readSelectable, type RowsOf, type SelectableRow } from '../../rows/routes/select.js';
import { rowsOfEvaluation, rowsOfSearch } from '../../rows/routes/subjects.js';
import { rowView } from '../../rows/routes/view.js';
import type { Report, ReportRows } from './report.js';

type SearchJob = JobRow<SessionHead> | JobRow<GraphHead>;
export type ReportedJob = SearchJob | JobRow<EvaluationHead>;

const mostRows = 100;
/** What needs a look first. */
const groupOrder: readonly RowGroup[] = ['broken', 'failing', 'failed', 'flaky', 'fixed', 'right', 'untried'];
const shownGroups: readonly RowGroup[] = ['broken', 'failing', 'failed', 'flaky'];

export async function readReport(tx: Tx, job: ReportedJob, version: string): Promise<Report> {
  const { jobId, kind, status, notes, createdAt, completedAt } = job;
  const usage = await readUsage(tx, jobId);
  const request = await readRequest(tx, jobId);
  return {
    title: job.name ?? jobId,
    jobId,
    noun: jobKinds[kind].noun,
    status,
    error: job.errorDetails?.message ?? null,
    notes,
    createdAt,
    completedAt,
    version,
    settings: await readSettings(tx, job),
    ...(isSearch(job) ? await ofSearch(tx, job, usage) : await ofEvaluation(tx, job)),
    usage: usageView(usage),
    rollouts: job.rolloutsCompleted,
    repetition: request && { path: jobKinds[kind].path, request },
  };
}

const isSearch = (job: ReportedJob): job is SearchJob => job.spec.kind !== 'evaluation';

async function ofSearch(tx: Tx, job: SearchJob, usage: Awaited<ReturnType<typeof readUsage>>) {
  const candidates = await readCandidates(tx, job.jobId);
  const { diagnosis } = await readSearchDiagnosis(tx, job, { candidates, usage });
  const { bestCandidateId: best } = job.projection;
  const baseline = idOfCandidate(job.jobId, 0);
  const { comparison } = outcomeView(job);
  const first = firstReward({ comparison, ...bestView(job) });
  const after = best ? await readText(tx, job, best) : null;
  const before = best && best !== baseline ? await readText(tx, job, baseline) : null;
  return {
    diagnosis,
    comparison: best === baseline ? null : comparison,
    reward: first && {
      name: firstRewardName(first, job.spec.kind === 'graph' ? 'task' : 'row'),
      mean: first.reward,
      interval: first.interval,
      baseline: best === baseline ? null : first.baseline,
    },
    texts: after === null ? null : { before, after },
    rows: await readRows(tx, await rowsOfSearch(tx, job as JobRow<SessionHead | GraphHead>, {})),
  };
}

async function ofEvaluation(tx: Tx, job: JobRow<EvaluationHead>) {
  const { diagnosis } = await readEvaluationDiagnosis(tx, job);
  const totals = await readTotals(tx, job.jobId);
  const { candidate } = await readSpec<EvaluationSpec>(tx, job.jobId);
  return {
    diagnosis,
    comparison: null,
    reward:
      totals.meanReward === null
        ? null
        : { name: 'Mean reward', mean: totals.meanReward, interval: intervalOfTotals(totals), baseline: null },
    texts: candidate?.messages ? { before: null, after: promptText(candidate.messages, candidate.demos ?? []) } : null,
    rows: await readRows(tx, rowsOfEvaluation(job)),
  };
}

/** The text of a candidate; null: not known. */
async function readText(tx: Tx, { jobId, spec }: SearchJob, candidate: string): Promise<string | null> {
  if (spec.kind === 'graph') {
    const graph = await readGraph(tx, jobId, candidate);
    return graph && graphText(graphFromJson(graph));
  }
  const prompt = await readPrompt(tx, jobId, candidate);
  return prompt?.messages ? promptText(prompt.messages, prompt.demos) : null;
}

function promptText(messages: readonly Message[], demos: readonly Demo[]): string {
  return renderPrompt(messages, demos)
    .map(({ role, content }) => `[${role}]\n${content.trimEnd()}\n`)
    .join('\n');
}

async function readRows(tx: Tx, of: RowsOf): Promise<ReportRows> {
  const { rows } = await readSelectable(tx, of, {});
  const counts = groupOrder.map((group) => [group, rows.filter((row) => row.group === group).length] as const);
  const wanted = shownGroups.flatMap((group) => rows.filter((row) => row.group === group));
  const page = wanted.slice(0, mostRows);
  const texts = await readPageTexts(tx, of, page);
  const view = (row: SelectableRow) => rowView(row, texts.rows.get(row.seed), texts.runs, null);
  return {
    counts: counts.filter(([, count]) => count > 0),
    shown: page.map(view).map(({ row, group, seen, input, expected, baseline, candidate }) => ({
      row,
      group,
      isHeldOut: of.baselineId !== null && !seen,
      input,
      expected,
      baseline: baseline?.answer ?? null,
      answer: candidate?.answer ?? candidate?.error ?? null,
      feedback: candidate?.feedback ?? null,
    })),
    total: wanted.length,
    hasBaseline: of.baselineId !== of.candidateId,
  };
}

async function readSettings(tx: Tx, { spec, tags, createdBy }: ReportedJob): Promise<Report['settings']> {
  const rows = 'rows' in spec ? spec.rows : null;
  const scorer = spec.kind === 'graph' ? spec.verifier : spec.rows?.scorer;
  const dataset = rows && (await readDataset(tx, rows.datasetId));
  const entries: (readonly [string, string | null | undefined])[] = [
    ['Data set', rows && `${dataset?.name ? `${dataset.name}, ` : ''}${rows.datasetId}, ${rows.numRows} rows`],
    ['Scorer', scorer?.type],
    ['Container', 'container' in spec ? spec.container?.url : null],
    ['Model', `${spec.policy.provider}/${spec.policy.model}`],
    ['Algorithm', 'search' in spec ? spec.search.algorithm : null],
    ['Tags', tags.join(', ')],
    ['Made by', createdBy?.keyName],
  ];
  return entries.flatMap(([name, value]) => (value ? [[name, value] as const] : []));
}
