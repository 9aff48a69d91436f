/** An evaluation of a candidate's prompt without one of its edits. */
import { z } from 'zod';
import { demosPart } from '../../../core/jobs/ids.js';
import type { EvaluationSpec, SessionSpec } from '../../../core/jobs/spec.js';
import { withTexts } from '../../../core/prompts/components.js';
import { withoutSentence, type Edit } from '../../../core/prompts/changes/changes.js';
import { jobKinds } from '../../../core/jobs/kinds.js';
import { ablationMetadata } from '../../../core/prompts/changes/ablation-metadata.js';
import { ablationSchema } from '../../../candidates/contract/changes.js';
import { candidateOf } from '../../../candidates/routes/candidate-of.js';
import { readCompared, type MeasuredRows } from '../../../candidates/routes/changes.js';
import { editsBetween, textsOf } from '../../../candidates/routes/changes-view.js';
import { readRewardedSeeds } from '../../../candidates/store/evidence.js';
import type { Ancestor } from '../../../candidates/store/lineage.js';
import { createQuerySchema } from '../../../contracts/common.js';
import { dryRunSchema } from '../../../contracts/dry-run.js';
import { keepDataset } from '../../../datasets/store/datasets.js';
import { evaluationEstimate } from '../../../jobs/routes/cost-estimate.js';
import { create, type Creation } from '../../../jobs/routes/create.js';
import type { JobRoute } from '../../../jobs/routes/kind.js';
import { idFields } from '../../../jobs/routes/view.js';
import type { JobRow, SessionHead } from '../../../jobs/store/jobs.js';
import { readSpec } from '../../../jobs/store/spec.js';
import type { Tx } from '../../../platform/db/db.js';
import type { App, HttpDeps } from '../../../platform/http/deps.js';
import { ApiError, refuse } from '../../../platform/http/server/errors.js';
import { bodyProblems, idempotencyHeader, sessionParams } from '../../../platform/http/server/schema.js';
import { evaluationCreatedSchema } from '../../evaluation/contract/evaluation.js';

/** Seconds for the whole evaluation. */
const timeoutS = 6 * 3_600;
/** Characters of the sentence in its name. */
const shownText = 60;

/** The held-out rows on which a candidate has rewards, else such evaluation rows; null: none. */
export async function readMeasured(
  tx: Tx,
  { jobId }: Pick<JobRow, 'jobId'>,
  candidateId: string,
): Promise<MeasuredRows | null> {
  const spec = await readSpec<SessionSpec>(tx, jobId);
  if (whyNever(spec) !== null) return null;
  const rewarded = await readRewardedSeeds(tx, jobId, candidateId);
  const { heldoutSeeds, evaluationSeeds } = spec.search;
  const measuredOf = (seeds: readonly number[]) => [...new Set(seeds)].filter((seed) => rewarded.has(seed));
  const [heldout, evaluated] = [measuredOf(heldoutSeeds), measuredOf(evaluationSeeds)];
  if (heldout.length > 0) return { basis: 'heldout', seeds: heldout };
  return evaluated.length > 0 ? { basis: 'evaluation', seeds: evaluated } : null;
}

/** Why no prompt of a session can be evaluated again; null: it can. */
function whyNever({ rollouts, container, rows }: SessionSpec): string | null {
  if (rollouts === 'caller') return 'The session runs on live traffic, which asks each question once.';
  if (!rows && container?.hasApiKey)
    return 'The container of the session needs its key, which is not copied. Create an evaluation with the messages and the key.';
  return null;
}

export function registerAblation(app: App, deps: HttpDeps, { path, tags, find }: JobRoute<SessionHead>): void {
  app.post(
    `${path}/candidates/:candidate_id/ablations`,
    {
      config: { idempotency: 'create' },
      schema: {
        tags,
        operationId: 'createSessionAblation',
        summary: 'Evaluate the prompt of a candidate without one of its edits',
        description:
          'An added sentence is left out, a changed one is as it was. Runs on the held-out rows on which the candidate has rewards, else on such evaluation rows, with the model and the scorer of the session. Compare the candidate with the evaluation: `GET /api/v1/compare`.',
        params: sessionParams.extend({ candidate_id: z.string() }),
        querystring: createQuerySchema,
        headers: idempotencyHeader,
        body: ablationSchema,
        response: { 200: dryRunSchema, 201: evaluationCreatedSchema, ...bodyProblems(404, 409) },
      },
    },
    async (request, reply) => {
      const { component, sentence, against } = request.body;
      const job = await find(request);
      const candidateId = candidateOf(request.params.candidate_id);
      const read = await deps.db.org(job.orgId, async (tx) => {
        const compared = await readCompared(tx, job.jobId, candidateId, against);
        const spec = await readSpec<SessionSpec>(tx, job.jobId);
        return { ...compared, spec, rows: await readMeasured(tx, job, candidateId) };
      });
      const self = read.line.at(-1)!;
      const edit = editsBetween(read.before, self).find(
        (each) => each.component === component && each.to === sentence && each.kind !== 'moved',
      );
      if (!edit) {
        const message = `must be \`to\` of an added or changed sentence of ${component.slice(0, 100)}`;
        throw refuse.invalid([{ pointer: '/sentence', message }]);
      }
      const spec = ablated(job, read.spec, { self, edit, rows: requireMeasured(read, candidateId) });
      return create(deps, request, reply, creationOf(deps, { spec, edit, self, before: read.before }));
    },
  );
}

function requireMeasured({ spec, rows }: { spec: SessionSpec; rows: MeasuredRows | null }, candidateId: string) {
  const never = whyNever(spec);
  if (never !== null) throw new ApiError(409, 'no_ablation', never);
  if (rows) return rows;
  const detail = `The candidate ${candidateId} has no reward on held-out or evaluation rows. Choose an evaluated candidate.`;
  throw new ApiError(409, 'candidate_not_ready', detail);
}

/** The evaluation, with all settings of the session. */
function ablated(
  { jobId, projection }: JobRow<SessionHead>,
  session: SessionSpec,
  { self, edit, rows }: { self: Ancestor; edit: Edit; rows: MeasuredRows },
): EvaluationSpec {
  const { container, policy, maxConcurrent, rolloutTimeoutS, maxFailureRate, preflight, answerCache } = session;
  const isDemo = edit.component === demosPart;
  const text = textsOf(self).get(edit.component) ?? '';
  const messages = isDemo
    ? self.messages!
    : withTexts(self.messages!, { [edit.component]: withoutSentence(text, edit.to!, edit.before) });
  const demos = isDemo ? self.demos.filter((_, index) => index !== edit.to) : self.demos;
  return {
    kind: 'evaluation',
    ...(session.rows && { rows: session.rows }),
    container,
    policy,
    maxConcurrent,
    rolloutTimeoutS,
    maxFailureRate,
    preflight,
    ...(answerCache && { answerCache }),
    appId: 'default',
    seeds: rows.seeds,
    timeoutS,
    candidate: {
      messages,
      ...(demos.length > 0 && { demos }),
      sessionId: jobId,
      candidateId: null,
      ...(projection.leversMarked && { marked: true }),
    },
  };
}

function creationOf(
  deps: HttpDeps,
  { spec, edit, self, before }: { spec: EvaluationSpec; edit: Edit; self: Ancestor; before: Ancestor },
): Creation {
  const { rows } = spec;
  const text = edit.after!.replace(/\s+/g, ' ');
  return {
    kind: 'evaluation',
    spec,
    algorithm: null,
    correlationId: null,
    labels: {
      name: `Without: ${text.slice(0, shownText)}${text.length > shownText ? '…' : ''}`,
      tags: ['ablation'],
      metadata: {
        [ablationMetadata.candidate]: self.id,
        [ablationMetadata.against]: before.id,
        [ablationMetadata.component]: edit.component,
        [ablationMetadata.sentence]: edit.to!,
      },
      notes: null,
    },
    webhookUrl: null,
    warnings: [],
    prepare: rows && ((tx) => requireDataset(tx, rows.datasetId)),
    location: (jobId) => `${jobKinds.evaluation.path}/${jobId}`,
    answer: ({ jobId, workflowId }) => ({
      ...idFields(jobId),
      status: 'running',
      estimate: evaluationEstimate(spec),
      workflow_id: workflowId,
      temporal_url: deps.temporalUrl(workflowId),
    }),
  };
}

async function requireDataset(tx: Tx, id: string): Promise<void> {
  if (!(await keepDataset(tx, id)))
    throw new ApiError(409, 'no_ablation', `The data set ${id} of the session has been deleted.`);
}
