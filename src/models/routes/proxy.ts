import type { FastifyReply, FastifyRequest } from 'fastify';
import { v7 as uuid } from 'uuid';
import { spendQuotaExceeded } from '../../core/jobs/failures.js';
import { refuseByQuota } from '../../jobs/store/cost-budget.js';
import type { App } from '../../platform/http/deps.js';
import { ApiError } from '../../platform/http/server/errors.js';
import type { ProxyCall, ProxyDeps } from './call.js';
import { createCostReservations } from './budget.js';
import { Forwarder } from './forward.js';
import { JobCalls } from './job-calls.js';
import { createRecorder } from './record.js';
import { replay } from './replay.js';
import { inferenceForms } from './form-shapes.js';
import { proxySchema, unjudged } from './schema.js';

const bodyLimit = 10 * 1024 * 1024;
const base = '/api/gepa/v1/:session_id';
/** With the end of the names of their operations. */
const paths = [
  ['', ''],
  ['/:correlation_id', 'ForRollout'],
  ['/:correlation_id/v1', 'ForRolloutV1'],
] as const;

/** Registers the inference paths of sessions and evaluations. */
export function registerProxy(app: App, deps: ProxyDeps & { secretKey: Buffer }): void {
  const calls = new JobCalls(deps);
  const recorder = createRecorder(deps);
  const forwarder = new Forwarder(deps, recorder, 'policy');
  const purse = createCostReservations(deps);

  const answer = async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    const { call, recorded } = await calls.resolve(request, reply);
    void reply.headers(callHeaders(call));
    const cached = recorded ? null : await recorder.recordCached(call);
    if (cached) void reply.header('x-ratchet-cache', 'hit');
    const known = recorded ?? cached;
    if (known) await replay(recorder, call, known, reply);
    else {
      await purse.reserve(call, reply);
      await forwarder.forward(call, reply).catch(async (error: unknown) => {
        if (error instanceof ApiError && error.code === spendQuotaExceeded) await noteRefusal(deps, call);
        throw error;
      });
    }
    return reply;
  };

  for (const { form, path: end, what, operations, ...shape } of inferenceForms) {
    for (const [path, suffix] of paths) {
      const operationId = `${operations[0]}${suffix}`;
      const summary = form === null ? 'Proxy inference' : `Proxy inference, in the form of ${shape.api}`;
      app.post(
        `${base}${path}${end}`,
        {
          bodyLimit,
          ...deps.bytes.hooks,
          helmet: false,
          config: { access: 'inference', ...(form && { form }) },
          validatorCompiler: unjudged,
          schema: proxySchema({ operationId, summary, what }, path !== '', shape),
        },
        answer,
      );
    }
  }
  app.addHook('onClose', () => forwarder.settled());
}

/** Commits that a quota refused a rollout's call before its container can give a reward. */
async function noteRefusal({ db, notifications: { presence } }: ProxyDeps, call: ProxyCall): Promise<void> {
  // The quota of a key that calls from outside is not the job's.
  if (call.rollout.source !== 'service' || call.keyId !== null) return;
  const refused = { id: `res_${uuid().replaceAll('-', '')}`, rolloutId: call.rollout.id, presence };
  await db.org(call.orgId, (tx) => refuseByQuota(tx, call, refused));
}

function callHeaders({ rollout, candidateId, correlationId }: ProxyCall): Record<string, string> {
  return {
    'x-gepa-rollout-idx': String(rollout.idx),
    'x-gepa-rollout-id': rollout.id,
    'x-gepa-correlation-id': correlationId,
    ...(candidateId !== null && { 'x-gepa-candidate-id': candidateId }),
  };
}
