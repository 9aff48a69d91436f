import type { z } from 'zod';
import { removedSegments } from '../../core/prompts/attribution.js';
import { componentTexts } from '../../core/prompts/components.js';
import type { Demo } from '../../core/prompts/demos.js';
import { splitSegments } from '../../core/prompts/segments.js';
import type { Tx } from '../../platform/db/db.js';
import type { shorterPromptSchema } from '../contract/shorter.js';
import { readPrompt, type CandidateRow, type Prompt } from '../store/reads.js';

type ShorterPrompt = z.output<typeof shorterPromptSchema>;

/** The shortest form of the best prompt; null: no shorter one lost nothing in its test. */
export async function readShorterPrompt(
  tx: Tx,
  jobId: string,
  candidates: readonly CandidateRow[],
  best: Prompt | null,
): Promise<ShorterPrompt | null> {
  const own = candidates.find(({ id }) => id === best?.candidateId);
  const row = own ? shortestForm(candidates, own.id) : null;
  if (!best || !row || isWorse(row, own!)) return null;
  const prompt = (await readPrompt(tx, jobId, row.id))!;
  return {
    candidate_id: row.id,
    removed: removedParts(best, prompt),
    tested_rows: row.decision!.tested,
    reward: row.reward,
  };
}

/** Whether the evaluation shows that the parts help. */
function isWorse(short: CandidateRow, long: CandidateRow): boolean {
  return short.reward !== null && long.reward !== null && short.reward < long.reward;
}

/** The last of the candidates that each are their parent without parts, from `id` on. */
function shortestForm(candidates: readonly CandidateRow[], id: string): CandidateRow | null {
  const next = candidates.find(({ parentIds, decision, isWritten }) => {
    const isShorter = decision?.type === 'candidate_accepted' && decision.reason === 'shorter';
    return isShorter && !isWritten && parentIds.length === 1 && parentIds[0] === id;
  });
  return next ? (shortestForm(candidates, next.id) ?? next) : null;
}

function removedParts(long: Prompt, short: Prompt): ShorterPrompt['removed'] {
  const kept = componentTexts(short.messages);
  const sentences = Object.entries(componentTexts(long.messages)).flatMap(([component, text]) => {
    const segments = splitSegments(text).map((segment) => ({ text: segment, candidate: 0 }));
    const removed = removedSegments(segments, kept[component] ?? '');
    return removed.map((segment) => ({ kind: 'sentence' as const, component, text: segment.text.trim() }));
  });
  const keyOf = ({ component, ordinal }: Demo) => `${ordinal} ${component}`;
  const shown = new Set(short.demos.map(keyOf));
  const demonstrations = long.demos
    .filter((demo) => !shown.has(keyOf(demo)))
    .map(({ seed, input }) => ({ kind: 'demonstration' as const, seed, text: input }));
  return [...sentences, ...demonstrations];
}
