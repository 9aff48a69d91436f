import type { SessionSpec } from '../../src/core/jobs/spec.js';
import type { Texts } from '../../src/core/proposals/components.js';
import { rewritableNames } from '../../src/core/prompts/row-template.js';
import { pickFailures } from '../../src/core/proposals/feedback-clusters.js';
import type { ProposalRequest } from '../../src/core/search/protocol.js';
import type { JobRef } from '../../src/storage/jobs/events.js';
import { readExamples } from '../../src/storage/candidates/reflection-examples.js';
import type { ActivityDeps } from '../deps.js';
import { instructionReader } from './ask-proposer.js';
import { readDescription } from './describe.js';
import { rewriteTexts, type RewriteOutcome } from './rewrite.js';

/** A proposed prompt, or why there is none; `shown`: the rollouts that the model was shown. */
export type ReflectedPrompt = RewriteOutcome & { shown: number[] };

/** Asks the proposer to rewrite a prompt's components from failed rollouts. */
export async function reflect(
  deps: ActivityDeps,
  job: JobRef,
  spec: SessionSpec,
  { request, parent, hint }: { request: ProposalRequest; parent: Texts; hint: string | null },
  signal: AbortSignal,
): Promise<ReflectedPrompt> {
  const { ordinals, pick, rewrite } = request;
  const { known, good, task } = await deps.db.org(job.orgId, async (tx) => ({
    known: await readExamples(tx, job.jobId, ordinals),
    good: rewrite ? await readExamples(tx, job.jobId, rewrite.examples) : [],
    task: rewrite ? await readDescription(tx, job) : null,
  }));
  const failures = pickFailures(known, pick);
  const shown = failures.map(({ ordinal }) => ordinal);
  const context = {
    ...(task !== null && { task }),
    ...(rewrite?.tip != null && { tip: rewrite.tip }),
    ...(hint !== null && { hint }),
  };
  const names = rewritableNames(spec, parent);
  const rewriting = { request, parent, names, failures, good, context, reader: instructionReader };
  const rewritten = await rewriteTexts(deps, job, spec, rewriting, signal);
  if (rewritten.outcome !== 'proposed') return { ...rewritten, shown };
  return { ...rewritten, texts: { ...parent, ...rewritten.texts }, shown };
}
