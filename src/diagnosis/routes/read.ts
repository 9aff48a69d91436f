/** The diagnosis of a run in responses. Texts are read only where a fault shows. */
import type { z } from 'zod';
import { diagnoseAnswers, symptomOf } from '../../core/diagnosis/answers.js';
import type { AnswersRecord, Diagnosis, SampledRow } from '../../core/diagnosis/diagnosis.js';
import { refusedByCause, type ProposalCounts } from '../../core/diagnosis/proposals.js';
import { diagnoseSearch } from '../../core/diagnosis/search.js';
import { candidateId } from '../../core/jobs/ids.js';
import type { EvaluationSpec, RowsSpec } from '../../core/jobs/spec.js';
import { isTerminal } from '../../core/jobs/status.js';
import { renderPrompt } from '../../core/prompts/demos.js';
import { expectedOf } from '../../core/prompts/row-template.js';
import { expectedAnswer, listedAnswers } from '../../core/verify/answer.js';
import { asText } from '../../core/verify/text.js';
import { readPrompt, type CandidateRow } from '../../candidates/store/reads.js';
import { readCostBudget } from '../../jobs/store/cost-budget.js';
import type { EvaluationHead, GraphHead, JobRow, SessionHead } from '../../jobs/store/jobs.js';
import { readSpec } from '../../jobs/store/spec.js';
import type { Usage } from '../../jobs/store/usage.js';
import type { Tx } from '../../platform/db/db.js';
import { formAdvice } from '../../scorers/form-advice.js';
import { answerOfContent } from '../../rollouts/store/answers.js';
import { readLabels, readRefusals, readSamples, type StoredSample } from '../store/reads.js';
import type { diagnosisSchema, proposalCountsSchema } from '../contract/diagnosis.js';

type SearchJob = JobRow<SessionHead> | JobRow<GraphHead>;
type Job = SearchJob | JobRow<EvaluationHead>;
type Rows = (Pick<RowsSpec, 'datasetId' | 'placeholders' | 'expected'> & { scorer: { type: string } }) | null;

interface Found {
  diagnosis: z.output<typeof diagnosisSchema>;
}

/** The diagnosis of a search, and the counts of its proposals. */
export async function readSearchDiagnosis(
  tx: Tx,
  job: SearchJob,
  { candidates, usage }: { candidates: readonly CandidateRow[]; usage: Pick<Usage, 'totalCostUsd'> },
): Promise<Found & { proposals: z.output<typeof proposalCountsSchema> }> {
  const { spec, projection: seen } = job;
  const proposals = await readProposals(tx, job, candidates);
  const baseline = candidates.find(({ leverVersion }) => leverVersion === 0);
  const bestId = seen.bestCandidateId ?? null;
  const limits = {
    max_rollouts: spec.search.maxRollouts,
    max_minutes: spec.budget.maxMinutes,
    max_cost_usd: (await readCostBudget(tx, job.jobId))?.maxUsd ?? null,
  };
  const diagnosis = diagnoseSearch({
    ...(await readAnswers(tx, job, bestId ?? candidateId(job.jobId, 0))),
    thing: spec.kind === 'graph' ? 'graph' : 'prompt',
    baseline: baseline?.reward ?? null,
    best: seen.bestReward ?? null,
    isBaselineBest: bestId !== null && bestId === baseline?.id,
    comparison: comparisonOf(seen.verdict),
    noise: seen.noise ? (1.96 * seen.noise.sd) / Math.sqrt(seen.evaluationRollouts ?? 1) : null,
    proposals,
    stoppedBy: job.stoppedBy,
    nothingLeft: seen.nothingLeft ?? null,
    history: (seen.history ?? []).map(({ bestReward }) => bestReward),
    bestGeneration: candidates.find(({ id }) => id === bestId)?.generation ?? null,
    extendedAt: seen.extendedAt ?? null,
    evaluationRows: seen.evaluationSeeds ?? null,
    heldoutRows: seen.heldoutSeeds ?? null,
    rollouts: job.rolloutsCompleted,
    limits,
    costUsd: usage.totalCostUsd,
    isExtendable: spec.kind === 'session' && spec.rollouts !== 'caller',
  });
  return { diagnosis: diagnosisView(diagnosis), proposals };
}

/** The diagnosis of an evaluation. */
export async function readEvaluationDiagnosis(tx: Tx, job: JobRow<EvaluationHead>): Promise<Found> {
  return { diagnosis: diagnosisView(diagnoseAnswers(await readAnswers(tx, job, null))) };
}

/** The diagnosis of the first graph on a few tasks, which a graph job ran and nothing else. */
export async function readTriedDiagnosis(tx: Tx, job: JobRow<GraphHead>): Promise<Found> {
  const answers = await readAnswers(tx, job, candidateId(job.jobId, 0));
  return { diagnosis: diagnosisView(diagnoseAnswers({ ...answers, isSearch: false })) };
}

async function readProposals(
  tx: Tx,
  { jobId }: SearchJob,
  candidates: readonly CandidateRow[],
): Promise<ProposalCounts> {
  const children = candidates.filter(({ leverVersion }) => leverVersion > 0);
  const decided = (type: string) => children.filter(({ decision }) => decision?.type === type).length;
  return {
    written: children.length,
    accepted: decided('candidate_accepted'),
    rejected: decided('candidate_rejected'),
    refused: refusedByCause(await readRefusals(tx, jobId)),
  };
}

/** `candidate` null: an evaluation. */
async function readAnswers(tx: Tx, job: Job, candidate: string | null): Promise<AnswersRecord> {
  const { scored, rolloutsCompleted, spec, status } = job;
  const counts = {
    isEnded: isTerminal(status),
    isSearch: spec.kind !== 'evaluation',
    scored: scored.rollouts,
    failed: rolloutsCompleted - scored.rollouts,
    rewards: scored.low === null || scored.high === null ? null : { low: scored.low, high: scored.high },
    empty: scored.empty,
  };
  const rows: Rows = (spec.kind !== 'graph' && spec.rows) || null;
  const symptom = symptomOf(counts);
  const run = { jobId: job.jobId, candidateId: candidate, rows };
  const sampled = symptom ? (await readSamples(tx, run, symptom)).map((sample) => sampledRow(sample, rows)) : [];
  return {
    ...counts,
    unit: rows ? 'row' : 'task',
    isLocal: spec.policy.provider === 'local',
    formAdvice: formAdvice(rows?.scorer.type ?? null, sampled),
    rows: sampled,
    ...(symptom
      ? { labels: await readLabels(tx, rows), prompt: await readText(tx, job, candidate) }
      : { labels: [], prompt: null }),
  };
}

/** The text of a prompt with its turns; null: not known, or a graph. */
async function readText(tx: Tx, { jobId, spec }: Job, candidate: string | null): Promise<string | null> {
  if (spec.kind === 'graph') return null;
  const prompt =
    candidate === null ? (await readSpec<EvaluationSpec>(tx, jobId)).candidate : await readPrompt(tx, jobId, candidate);
  if (!prompt?.messages) return null;
  return renderPrompt(prompt.messages, prompt.demos ?? [])
    .map(({ content }) => content)
    .join('\n');
}

function sampledRow(sample: StoredSample, rows: Rows): SampledRow {
  const { row, rolloutId, input, content, finishReason, empty, error } = sample;
  return {
    row,
    rolloutId,
    input,
    finishReason,
    empty,
    expected: expectedTexts(rows ? expectedOf(sample.expected ?? undefined, rows) : sample.expected),
    answered: content === null ? null : answerOfContent(content),
    error: error?.message ?? null,
    unscored: error !== null && /^(?:scorer|judge)_/.test(error.code),
  };
}

/** Right answers of which each counts. */
function expectedTexts(expected: unknown): string[] {
  const listed = listedAnswers(expected ?? []);
  const all: unknown[] = Array.isArray(listed) ? listed : [listed];
  return all.map((one) => asText(expectedAnswer(one)));
}

function comparisonOf(verdict: SearchJob['projection']['verdict']) {
  if (!verdict) return null;
  const { low, high, seeds, ...rest } = verdict;
  return { ...rest, rows: seeds, interval: { low, high } };
}

function diagnosisView(diagnosis: Diagnosis | null): z.output<typeof diagnosisSchema> {
  if (!diagnosis) return null;
  const { code, sentence, facts, rows, action } = diagnosis;
  return {
    code,
    sentence,
    facts,
    rows: rows.map(({ rolloutId, ...row }) => ({ ...row, trace_id: rolloutId })),
    action: action && {
      kind: action.kind,
      label: action.label,
      limit: action.extension?.limit ?? null,
      to: action.extension?.to ?? null,
      cost_usd: action.extension?.costUsd ?? null,
      prompt_addition: action.promptAddition ?? null,
    },
  };
}
