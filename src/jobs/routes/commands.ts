import { commandBodySchema, controlAnswerSchema, jobChangeSchema } from '../../contracts/control.js';
import type { App, HttpDeps } from '../../platform/http/deps.js';
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
      if (state) return control(deps, reply, job, patchCommands[state]);
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
      async (request, reply) => control(deps, reply, await find(request), command),
    );
  }
}
