import { componentTexts } from '../../src/core/prompts/components.js';
import { promptTokens } from '../../src/core/prompts/length.js';
import { rewritableNames } from '../../src/core/prompts/row-template.js';
import { placeholderProblem } from '../../src/core/proposals/placeholders.js';
import type { SessionSpec } from '../../src/core/jobs/spec.js';
import type { DemoAnswer, DemoRequest } from '../../src/core/search/protocol.js';
import { readPool, readMarked } from '../../src/candidates/store/candidates.js';
import { usableDemos } from '../../src/candidates/store/demos.js';
import type { JobRef } from '../../src/jobs/store/events.js';
import type { ActivityDeps } from '../deps.js';
import { recordLost } from '../jobs/spec.js';
import type { ProposerContext } from './ask-proposer.js';
import { describeTask } from './describe.js';

/** Demonstrations get this share of what `max_prompt_tokens` leaves; longer texts get the rest. */
const demosShare = 3 / 4;

/** Finds the baseline's components and the rollouts that can serve as demonstrations. */
export async function findDemos(
  deps: ActivityDeps,
  job: JobRef,
  spec: SessionSpec,
  request: DemoRequest,
  { trace, signal }: Pick<ProposerContext, 'trace' | 'signal'>,
): Promise<DemoAnswer> {
  // The winner is filled again: braces of a row would become placeholders.
  const { rows } = spec;
  const accepts = (text: string) => !rows || placeholderProblem(text, '', rows) === null;
  const { prompt, slots } = await deps.db.org(job.orgId, async (tx) => {
    const baseline = (await readPool(tx, job.jobId)).get(0);
    if (!baseline?.messages) throw recordLost(job);
    const prompt = componentTexts(baseline.messages);
    const marked = await readMarked(tx, job.jobId);
    const left = (spec.maxPromptTokens ?? Infinity) - promptTokens(baseline.messages, []);
    const query = {
      components: Object.keys(prompt),
      marked,
      ordinals: request.ordinals,
      open: request.open,
      demoTokens: demosShare * left,
    };
    return { prompt, slots: await usableDemos(tx, job.jobId, query, accepts) };
  });
  if (request.describe.length > 0) {
    await describeTask(deps, job, spec, { prompt, ordinals: request.describe }, { trace, signal });
  }
  return { components: rewritableNames(spec, prompt), slots };
}
