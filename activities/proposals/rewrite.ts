import { componentsToRewrite, type Texts } from '../../src/core/proposals/components.js';
import type { TriedText } from '../../src/core/proposals/ledger.js';
import { estimatedTokens } from '../../src/core/prompts/length.js';
import {
  requireFits,
  requireNew,
  requireRules,
  requireShorter,
  type ReflectionExample,
} from '../../src/core/proposals/reflection.js';
import { textForm } from '../../src/core/proposals/second-try.js';
import type { Question } from '../../src/core/question.js';
import type { ProposalRequest } from '../../src/core/search/protocol.js';
import { askProposer, type ProposerContext, type ProposerQuestion } from './ask-proposer.js';

/** A rewrite of a candidate's texts; `names`: the components that may be rewritten. */
export interface RewriteRequest {
  request: ProposalRequest;
  parent: Texts;
  names: readonly string[];
  failures: readonly ReflectionExample[];
  /** Good rollouts, shown beside the failures. */
  good?: readonly ReflectionExample[];
  /** Whether a candidate has these texts. */
  isKnown?: (texts: Texts) => boolean;
  /** Earlier children of the parent, by their texts. */
  tried?: readonly (Omit<TriedText, 'text'> & { texts: Texts })[];
  context: { task?: string; tip?: string; hint?: string; traceDetail?: number };
  /** Estimated tokens of all texts that may be rewritten or kept; absent: no limit. */
  maxTokens?: number;
  /** Reads the new text of a component from an answer. */
  reader: (text: string, component: string) => ProposerQuestion['read'];
}

/** The components that changed, or why none did. */
export type RewriteOutcome =
  | { outcome: 'proposed'; texts: Texts; components: string[] }
  | { outcome: 'unchanged' }
  /** Longer than the job allows. */
  | { outcome: 'refused'; reason: string }
  | { outcome: 'failed'; reason: string };

/** Asks the proposer for new texts of the chosen components, one question each. */
export async function rewriteTexts(
  proposer: ProposerContext,
  { request, parent, names, failures, good = [], isKnown, tried = [], maxTokens, context, reader }: RewriteRequest,
): Promise<RewriteOutcome> {
  const feedback = failures.map((failure) => failure.feedback);
  const components = componentsToRewrite(names, feedback, request);
  const { candidate, approach } = request;
  const examples = [...good, ...failures];
  const parts = Object.keys(parent);
  const answers = await Promise.all(
    components.map((component) => {
      const { [component]: instruction = '', ...others } = parent;
      const varied = approach && { approach };
      const earlier = tried.flatMap(({ texts, ...result }) => {
        const text = texts[component];
        return text === undefined || text === instruction ? [] : [{ ...result, text }];
      });
      const history = earlier.length > 0 && { tried: earlier };
      const room =
        maxTokens === undefined ? undefined : Math.max(1, maxTokens - estimatedTokens(...Object.values(others)));
      const bounded = room !== undefined && { maxTokens: room };
      const reflection = { instruction, examples, component, others, ...history, ...context, ...varied, ...bounded };
      const part = parts.indexOf(component);
      const readText = reader(instruction, component);
      const isKnownText = (text: string) =>
        components.length === 1 && isKnown?.({ ...parent, [component]: text }) === true;
      const read: ProposerQuestion['read'] = (answer) => {
        const rules = requireFits(requireRules(readText(answer), instruction, examples), room);
        const parsed = requireNew(rules, isKnownText);
        return approach === 'compress' ? requireShorter(parsed, instruction) : parsed;
      };
      const question: Question = { kind: 'text', reflection };
      const asked = { candidate, part, component, isVaried: approach !== undefined, question, form: textForm, read };
      return askProposer(proposer, asked);
    }),
  );
  const texts: Record<string, string> = {};
  for (const [index, answer] of answers.entries()) if (answer.ok) texts[components[index]!] = answer.text;
  const changed = Object.keys(texts);
  if (changed.length > 0) return { outcome: 'proposed', texts, components: changed };
  const tooLong = answers.find((answer) => !answer.ok && answer.tooLong);
  if (tooLong?.ok === false) return { outcome: 'refused', reason: tooLong.reason };
  const [reason] = answers.flatMap((answer) => (answer.ok || answer.unchanged ? [] : [answer.reason]));
  return reason === undefined ? { outcome: 'unchanged' } : { outcome: 'failed', reason };
}
