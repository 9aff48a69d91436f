import type { SessionSpec } from '../../src/core/jobs/spec.js';
import type { Texts } from '../../src/core/proposals/components.js';
import { rewritableNames } from '../../src/core/prompts/row-template.js';
import { promptTokens } from '../../src/core/prompts/length.js';
import { pickFailures } from '../../src/core/proposals/feedback-clusters.js';
import type { ProposalRequest } from '../../src/core/search/protocol.js';
import { instructionReader, type ProposerContext } from './ask-proposer.js';
import type { SessionMaterial } from './material.js';
import type { CandidatePool } from './pool.js';
import { rewriteTexts, type RewriteOutcome } from './rewrite.js';

/** A proposed prompt, or why there is none; `shown`: the rollouts that the model was shown. */
export type ReflectedPrompt = RewriteOutcome & { shown: number[] };

/** Asks the proposer to rewrite a prompt's components from failed rollouts. */
export async function reflect(
  proposer: ProposerContext,
  request: ProposalRequest,
  parent: Texts,
  pool: CandidatePool,
  { examples, task, hint }: SessionMaterial,
): Promise<ReflectedPrompt> {
  const { ordinals, pick, guide, solved = [], tried = [] } = request;
  const known = (list: readonly number[]) => list.flatMap((ordinal) => examples.get(ordinal) ?? []);
  const failures = pickFailures(known(ordinals), pick);
  const shown = failures.map(({ ordinal }) => ordinal);
  const context = {
    ...(guide && task !== null && { task }),
    ...(guide?.tip != null && { tip: guide.tip }),
    ...(hint !== null && { hint }),
  };
  const spec = proposer.spec as SessionSpec;
  const names = rewritableNames(spec, parent);
  const good = known(solved);
  const reader = instructionReader(spec.rows ?? null);
  const earlier = tried.map(({ candidate, ...result }) => ({ ...result, texts: pool.textsOf(candidate) }));
  const isKnown = (texts: Texts) => pool.hasTextsBefore(request.candidate, texts);
  const { maxPromptTokens: most } = spec;
  const demos = pool.get(request.parent).demos;
  const bounded = most !== undefined && { maxTokens: most - promptTokens([], demos) };
  const rewriting = { request, parent, names, failures, good, isKnown, tried: earlier, context, reader, ...bounded };
  const rewritten = await rewriteTexts(proposer, rewriting);
  if (rewritten.outcome !== 'proposed') return { ...rewritten, shown };
  return { ...rewritten, texts: { ...parent, ...rewritten.texts }, shown };
}
