/** What people suggest to a running session: a prompt of their own, a hint for the proposer. */
import { suggestedCandidateSchema, hintSchema } from '../contract/suggestions.js';
import { controlAnswerSchema } from '../../../contracts/control.js';
import type { SessionSpec } from '../../../core/jobs/spec.js';
import type { Message } from '../../../core/prompts/message.js';
import { componentNames, componentTexts } from '../../../core/prompts/components.js';
import { lengthProblem, placeholderProblem } from '../../../core/proposals/placeholders.js';
import { readPrompts } from '../../../candidates/store/candidates.js';
import type { SessionHead } from '../../../jobs/store/jobs.js';
import { command } from '../../../jobs/routes/control.js';
import type { JobRoute } from '../../../jobs/routes/kind.js';
import type { App, HttpDeps } from '../../../platform/http/deps.js';
import { ApiError, pointerOf, refuse, type FieldError } from '../../../platform/http/server/errors.js';
import { bodyProblems, idempotencyHeader, sessionParams } from '../../../platform/http/server/schema.js';

const response = { 200: controlAnswerSchema, 202: controlAnswerSchema, ...bodyProblems(404, 409) };

export function registerSuggestions(app: App, deps: HttpDeps, { path, tags, find }: JobRoute<SessionHead>): void {
  app.post(
    `${path}/candidates`,
    {
      schema: {
        tags,
        operationId: 'suggestSessionCandidate',
        summary: 'Try a prompt of your own in the running search',
        params: sessionParams,
        headers: idempotencyHeader,
        body: suggestedCandidateSchema,
        response,
      },
    },
    async (request, reply) => {
      const job = await find(request);
      if (job.spec.rollouts === 'caller') {
        const detail = 'Sessions over live traffic take no prompts. Give a hint, or start a session with the prompt.';
        throw new ApiError(409, 'invalid_state', detail, { extra: { current_status: job.status } });
      }
      const prompts = await deps.db.org(job.orgId, (tx) => readPrompts(tx, job.jobId));
      const texts = textsOf(request.body.messages, prompts.get(0) ?? null, job.spec);
      const { code, body } = await command(deps, job, {
        kind: 'candidate',
        keyId: request.caller.keyId,
        content: { texts },
      });
      return reply.code(code).send(body);
    },
  );

  app.post(
    `${path}/hint`,
    {
      schema: {
        tags,
        operationId: 'hintSession',
        summary: 'Give the proposer a hint',
        params: sessionParams,
        headers: idempotencyHeader,
        body: hintSchema,
        response,
      },
    },
    async (request, reply) => {
      const job = await find(request);
      const { caller, body: given } = request;
      const { code, body } = await command(deps, job, {
        kind: 'hint',
        keyId: caller.keyId,
        content: { hint: given.hint },
      });
      return reply.code(code).send(body);
    },
  );
}

/** The texts by component; throws for a prompt that no candidate of the session can be. */
function textsOf(
  messages: Message[],
  baseline: Message[] | null,
  { rows }: Pick<SessionSpec, 'rows'> | SessionHead,
): Record<string, string> {
  if (!baseline) {
    const detail =
      "The session's baseline prompt is not known yet, so no prompt can be compared with it. Try again later.";
    throw new ApiError(409, 'not_ready', detail);
  }
  const known = componentTexts(baseline);
  const errors: FieldError[] = [];
  const names = componentNames(messages);
  for (const [index, name] of names.entries()) {
    const { content } = messages[index]!;
    const refuseAt = (field: string, message: string) =>
      errors.push({ pointer: pointerOf(['messages', index, field]), message });
    if (!Object.hasOwn(known, name)) {
      refuseAt('name', `is "${name}", which is no component of this session: ${Object.keys(known).join(', ')}`);
      continue;
    }
    const problems = [placeholderProblem(content, known[name]!, rows ?? null), lengthProblem(content, known[name]!)];
    for (const problem of problems) if (problem !== null) refuseAt('content', problem);
  }
  if (errors.length > 0) throw refuse.invalid(errors);
  return componentTexts(messages);
}
