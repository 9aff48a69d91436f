import type { Answer, Ratchet, SessionHandle } from '../../client/index.js';
import { signed } from '../../core/math/words.js';
import { firstReward, firstRewardName } from '../../core/comparisons/first-reward.js';
import { candidateId, rolloutId, sessionOfCandidate } from '../../core/jobs/ids.js';
import { sayDiagnosis } from '../service/diagnosis.js';
import { FailedJob } from '../service/errors.js';
import { agreementText, decimal, dollars, meanText, rowsNeededText, note, say, sayJson } from '../service/output.js';
import { tryReplace } from '../task/output-file.js';
import { promptDiff, promptText, type Prompt } from '../task/prompt-file.js';
import { coloured } from './diff.js';
import { followSession, type SessionState } from './progress.js';

type Results = Answer<'getSessionResults'>;
type Weighed = Answer<'getSessionPareto'>['weighed'];

type Shorter = NonNullable<Results['shorter_prompt']>;

/** Prompts beside the best one. */
const mostOthers = 4;

interface ReportOptions {
  /** Null: the prompt is not written. */
  out: string | null;
  json: boolean;
  /** The prompt before the search; null: the session's baseline. */
  prompt: Prompt | null;
  /** Warnings that the user has seen. */
  warned: readonly string[];
  /** Answers before the part to follow; default 0. */
  from?: number;
}

/** Follows a session to its end and prints its result. */
export async function report(
  client: Ratchet,
  sessionId: string,
  { out, json, prompt, warned, from = 0 }: ReportOptions,
): Promise<void> {
  const session = client.sessions.handle(sessionId);
  const state = await followSession(session, from);
  const results = await session.results();
  const { best_prompt: best } = results;
  const written = best && out !== null ? await tryReplace(out, promptText(best, out), '--out') : null;
  const unwritten = written && 'problem' in written ? written.problem : null;
  if (json) sayJson(results);
  else {
    const before = prompt ?? (best && (await baselineOf(session, state)));
    if (best) say(changeOf(before, best));
    if (best && unwritten !== null) say(promptText(best, out!).trimEnd());
    printResults(state, results);
    if (best) await sayChoice(client, sessionId, results.best_candidate);
    if (results.shorter_prompt) say(shorterText(results.shorter_prompt));
    sayDiagnosis(results.diagnosis, sessionId);
  }
  for (const warning of state.warnings) if (!warned.includes(warning)) note(`Note: ${warning}`);
  if (written && 'earlier' in written) {
    const { earlier } = written;
    if (!json) say(`The best prompt is in ${out}.`);
    if (earlier !== null) note(`The one that was there before is in ${earlier}.`);
  }
  const others = `ratchet export ${sessionId} --to prompt.txt --out FILE`;
  if (unwritten !== null) throw new FailedJob(`${unwritten}. The prompt is above, and in: ${others}`);
  if (best && out === null) note(`Write the best prompt to a file: ${others}`);
  if (state.status === 'failed') throw new FailedJob(`The session ${sessionId} failed: ${state.error}`);
}

/** The prompt of the session's first rollout; null: it has none. */
async function baselineOf(session: SessionHandle, { candidates }: SessionState): Promise<Prompt | null> {
  if (!candidates.some((candidate) => candidate.is_baseline)) return null;
  const prompt = await session.prompt({ correlation_id: rolloutId(session.id, 0) });
  return prompt.messages.length === 0 ? null : prompt;
}

function changeOf(before: Prompt | null, best: Prompt): string {
  if (before === null) return promptText(best, '').trimEnd();
  const diff = promptDiff(before, best, ['before', 'best']);
  return diff === null ? 'The prompt is unchanged.' : coloured(diff);
}

function printResults(state: SessionState, results: Results): void {
  const { stopped_by: stoppedBy, usage } = results;
  const { rollouts_completed: rollouts } = state.progress;
  // The error says it all.
  if (state.status === 'failed' && rollouts === 0) return;
  say(verdictOf(state, results));
  const agreement = agreementText(results.judge_agreement);
  if (agreement !== null) say(agreement);
  const reason = stoppedBy === null || stoppedBy === state.status ? '' : ` (${stoppedBy})`;
  say(`${state.status}${reason}: ${rollouts} answers, ${dollars(usage.total_cost_usd)}`);
}

async function sayChoice(client: Ratchet, sessionId: string, best: Results['best_candidate']): Promise<void> {
  const { weighed } = await client.request('getSessionPareto', { path: { session_id: sessionId } });
  const choice = choiceText(weighed, best);
  if (choice !== null) say(choice);
}

/** Prompts that are shorter, cheaper or faster than the best; null: none but the baseline. */
export function choiceText(weighed: Weighed, best: Results['best_candidate']): string | null {
  const session = best && sessionOfCandidate(best.candidate_id);
  if (!session || best.is_baseline) return null;
  const known = [best.candidate_id, candidateId(session, 0)];
  const ofBest = weighed.find(({ candidate_id: id }) => id === best.candidate_id);
  const others = weighed.filter(({ candidate_id: id }) => !known.includes(id));
  if (!ofBest || others.length === 0) return null;
  const lines = [ofBest, ...others.slice(0, mostOthers)].map(weighedText);
  return ['To choose by length, cost or time instead: ratchet export CANDIDATE', ...lines].join('\n');
}

/** What can leave the prompt, and how to take the prompt without it. */
export function shorterText({ candidate_id: id, removed, tested_rows: rows, reward }: Shorter): string {
  const sentences = removed.flatMap((part) => (part.kind === 'sentence' ? [part.text] : []));
  const turns = removed.length - sentences.length;
  const parts = [
    ...(turns > 0 ? [`${turns} ${turns === 1 ? 'demonstration' : 'demonstrations'}`] : []),
    ...(sentences.length > 0 ? [`${sentences.length} ${sentences.length === 1 ? 'sentence' : 'sentences'}`] : []),
  ];
  const measured = reward === null ? 'not evaluated' : `reward ${decimal(reward)} on the evaluation rows`;
  return [
    `Not shown to help: ${parts.join(' and ')}. Without them ${rows} tested rows lost nothing (${measured}):`,
    ...sentences.map((sentence) => `  - ${sentence}`),
    `  ratchet export ${id}`,
  ].join('\n');
}

function weighedText({ candidate_id: id, reward, prompt_tokens: tokens, ...one }: Weighed[number]): string {
  const time = one.latency_ms === null ? '' : `, ${Math.round(one.latency_ms)} ms`;
  return `  ${id}: reward ${decimal(reward)}, ${tokens} prompt tokens, ${dollars(one.cost_usd)} an answer${time}`;
}

function verdictOf({ split }: Pick<SessionState, 'split'>, results: Results): string {
  const { verdict, comparison, best_candidate: bestCandidate } = results;
  const first = firstReward(results, split?.evaluation.length);
  const measured = first ? `${firstRewardName(first)}: ${meanText(first.reward, first.interval)}` : 'No reward yet';
  if (!verdict || !comparison) return measured;
  if (bestCandidate?.is_baseline) return `No better prompt was found. ${measured}`;
  const { basis, seeds, baseline_reward: baseline, winner_reward: winner, interval, rows_needed: needed } = comparison;
  const rows = basis === 'heldout' ? `${seeds} held-out rows` : `${seeds} rows that the search saw`;
  const difference = `difference ${signed(interval.low)} to ${signed(interval.high)}`;
  const name = { better: 'Better', worse: 'Worse', inconclusive: 'Inconclusive' }[verdict];
  const after = meanText(winner, comparison.winner_interval);
  return `${name} on ${rows}: ${decimal(baseline)} -> ${after}; 95 %: ${difference}${rowsNeededText(needed)}`;
}
