import { commandBodySchema, controlAnswerSchema, jobChangeSchema } from '../../contracts/control.js';
import { insertCommand } from '../store/commands.js';
import { isTerminal } from '../../core/jobs/status.js';
import type { App, HttpDeps } from '../../platform/http/deps.js';
import { ApiError } from '../../platform/http/server/errors.js';
import { bodyProblems, idempotencyHeader } from '../../platform/http/server/schema.js';
import { control, findJob, patchCommands } from './control.js';
import { jobIdOf, type JobRoute } from './kind.js';
import { mark } from './labels.js';
import { idFields } from './view.js';

const response = { 200: controlAnswerSchema, 202: controlAnswerSchema, ...bodyProblems(404, 409) };

/** PATCH, pause, resume and cancel. */
export function registerCommands(
  app: App,
  deps: HttpDeps,
  { path, params, param, tags, name, noun, find }: JobRoute,
  patchesAnyKind: boolean,
): void {
  app.patch(
    path,
    {
      schema: {
        tags,
        operationId: `update${name}`,
        summary: `Pause, resume, cancel, label or archive ${patchesAnyKind ? 'a job of any kind' : noun}`,
        params,
        body: jobChangeSchema,
        response,
      },
    },
    async (request, reply) => {
      const job = await (patchesAnyKind ? findJob(deps, request, jobIdOf(request, param)) : find(request));
      const { state, ...marks } = request.body;
      const { keyId } = request.caller;
      if (state) return control(deps, reply, job, { kind: patchCommands[state], keyId });
      await mark(deps, job, marks);
      return reply.send({ ...idFields(job.jobId), status: job.status });
    },
  );

  for (const command of ['pause', 'resume', 'cancel'] as const) {
    app.post(
      `${path}/${command}`,
      {
        schema: {
          tags,
          operationId: `${command}${name}`,
          summary: `${command[0]!.toUpperCase()}${command.slice(1)} ${noun}`,
          params,
          headers: idempotencyHeader,
          body: commandBodySchema,
          response,
        },
      },
      async (request, reply) =>
        control(deps, reply, await find(request), { kind: command, keyId: request.caller.keyId }),
    );
  }
}

/** Cancel of a job that runs other jobs: Temporal's own request, which ends its job, too. */
export function registerCancel(
  app: App,
  deps: HttpDeps,
  { path, params, find, tags, name, noun }: JobRoute<unknown>,
): void {
  app.post(
    `${path}/cancel`,
    {
      schema: {
        tags,
        operationId: `cancel${name}`,
        summary: `Cancel ${noun}, with the job that it waits for`,
        description: '202: it is ending. 200: it was cancelled before. The name serves what it served before.',
        params,
        headers: idempotencyHeader,
        body: commandBodySchema,
        response,
      },
    },
    async (request, reply) => {
      const job = await find(request);
      const { jobId, status } = job;
      if (status === 'cancelled') return { job_id: jobId, status };
      if (isTerminal(status)) {
        const detail = `The job is ${status} and cannot be cancelled.`;
        throw new ApiError(409, 'invalid_state', detail, { extra: { current_status: status } });
      }
      const sent = { kind: 'cancel', keyId: request.caller.keyId } as const;
      await deps.db.org(job.orgId, (tx) => insertCommand(tx, job, sent));
      if (!job.workflowStarted) await deps.commander.start(job);
      await deps.commander.cancel(job);
      return reply.code(202).send({ job_id: jobId, status, pending_command: 'cancel' });
    },
  );
}
