/** Estimates of requests, by the service's own rules. */
import type { z } from 'zod';
import { flatEvaluationSchema } from '../../kinds/evaluation/contract/evaluation.js';
import { withoutNulls } from '../../contracts/nulls.js';
import { createSessionSchema } from '../../kinds/session/contract/create.js';
import { missing } from '../../contracts/validation.js';
import { evaluationEstimate, sessionEstimate, type Estimate } from '../../jobs/routes/cost-estimate.js';
import { evaluationSpec, sessionSpec } from '../../jobs/routes/specs.js';
import { fromIssues } from '../../platform/http/server/faults.js';

/** The service checks its providers, and the addresses and functions of scorers. */
export const unchecked = {
  checkContainerUrl: () => null,
  checkProvider: () => null,
  checkJavascript: () => null,
};

/** A body as the API reads it; throws its refusal. */
export function readBody<Schema extends z.ZodType>(schema: Schema, body: unknown): z.output<Schema> {
  const result = schema.safeParse(withoutNulls(schema, body), { error: missing });
  if (result.success) return result.data;
  throw fromIssues(result.error.issues, schema);
}

/** The estimate of a session on a container. */
export function estimateSession(body: object): Estimate {
  const { policy_optimization: request } = readBody(createSessionSchema, body);
  return sessionEstimate(sessionSpec(request, unchecked));
}

/** The estimate of an evaluation on a container. */
export function estimateEvaluation(body: object): Estimate {
  return evaluationEstimate(evaluationSpec(readBody(flatEvaluationSchema, body), null, null));
}
