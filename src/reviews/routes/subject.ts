/** What a review is about: a rollout of a job, or a kept answer of a deployment. */
import type { FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { jobKinds, kindOf } from '../../core/jobs/kinds.js';
import type { EvaluationSpec, SessionSpec } from '../../core/jobs/spec.js';
import { find as findDeployment } from '../../kinds/deployment/routes/find.js';
import { AnswerIds, type Answered } from '../../kinds/deployment/store/answer-ids.js';
import { hasRequest } from '../../kinds/deployment/store/logged-requests.js';
import { findJob } from '../../jobs/routes/control.js';
import { readSpec } from '../../jobs/store/spec.js';
import type { Tx } from '../../platform/db/db.js';
import type { HttpDeps } from '../../platform/http/deps.js';
import { refuse } from '../../platform/http/server/errors.js';
import { judgeScore } from '../../scorers/index.js';
import type { reviewParams } from '../contract/reviews.js';
import { readRollout, type ReviewedRollout } from '../store/rollouts.js';
import type { ReviewSubject } from '../store/reviews.js';

/** `live`: of an answer of a deployment; null: of a rollout. */
export interface FoundSubject extends ReviewSubject {
  live: { name: string; answered: Answered } | null;
}

/** Whether an id is one of a job whose rows are reviewed. */
export const isOfRows = (jobId: string): boolean => {
  const kind = kindOf(jobId);
  return kind !== null && jobKinds[kind].takesCommands;
};

/** Throws 404 for what does not exist, has not finished, or is no longer kept. */
export async function findSubject(
  deps: HttpDeps,
  request: FastifyRequest,
  { job_id: jobId, subject_id: subjectId }: z.output<typeof reviewParams>,
): Promise<FoundSubject> {
  return isOfRows(jobId) ? ofRollout(deps, request, jobId, subjectId) : ofAnswer(deps, request, jobId, subjectId);
}

async function ofRollout(deps: HttpDeps, request: FastifyRequest, jobId: string, subjectId: string) {
  const { orgId } = await findJob(deps, request, jobId);
  return deps.db.org(orgId, async (tx) => {
    const rollout = await readRollout(tx, jobId, subjectId);
    if (!rollout) throw noSubject(subjectId);
    const judge = await judgeOf(tx, jobId, rollout);
    const { seed, candidateId } = rollout;
    return { orgId, jobId, subjectId, seed, candidateId, judge, live: null };
  });
}

/** The score of a job's judge; null: it has none, or the rollout failed. */
async function judgeOf(tx: Tx, jobId: string, { reward, criteria }: ReviewedRollout): Promise<number | null> {
  const { rows } = await readSpec<SessionSpec | EvaluationSpec>(tx, jobId);
  if (!rows || reward === null) return null;
  return judgeScore(rows.scorer, { reward, ...(criteria && { criteria }) });
}

async function ofAnswer(deps: HttpDeps, request: FastifyRequest, ref: string, answerId: string) {
  const { id, name, orgId } = await findDeployment(deps, request, ref);
  const answered = new AnswerIds(deps.secretKey).read(answerId);
  if (!answered || (ref !== name && answered.deploymentId !== id)) throw noSubject(answerId);
  const isKept = await deps.db.org(orgId, (tx) => hasRequest(tx, name, { answerId, ...answered }));
  if (!isKept) throw noSubject(answerId);
  const subject = { orgId, jobId: answered.deploymentId, subjectId: answerId };
  return { ...subject, seed: null, candidateId: null, judge: null, live: { name, answered } };
}

const noSubject = (id: string) => refuse.notFound(`finished row or kept answer "${id.slice(0, 100)}"`);
