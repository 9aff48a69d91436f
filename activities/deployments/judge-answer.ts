import { scoredTexts } from '../../src/core/deployments/request-texts.js';
import { withoutThoughts } from '../../src/core/answers/completion.js';
import { keepVerdict, type ClaimedAnswer } from '../../src/kinds/deployment/store/judgements.js';
import type { JudgedName } from '../../src/kinds/deployment/store/judges.js';
import { completeChat } from '../../src/models/client/complete-chat.js';
import type { ScorerSpec } from '../../src/scorers/index.js';
import { cutErrorText } from '../../src/clients/net/untrusted.js';
import { scoreOutput } from '../datasets/score.js';
import type { ActivityDeps } from '../deps.js';
import type { Ask, Judgement } from '../models/judge.js';
import type { JudgeBudget, Store } from './judge-budget.js';

/** Time of the code and the URLs of users for an answer, without a limit of their own. */
const timeoutMs = 60_000;

export interface Judging {
  deps: ActivityDeps;
  judge: JudgedName;
  budget: JudgeBudget;
  store: Store;
}

/** Scores an answer. Rejects with DaySpent, or with the signal's reason. */
export async function judgeAnswer(
  judging: Judging,
  spec: ScorerSpec,
  claimed: ClaimedAnswer,
  signal: AbortSignal,
): Promise<Judgement> {
  const { deps, judge } = judging;
  const [request, answer] = [claimed.request, claimed.answer].map(
    (json) => JSON.parse(json) as Record<string, unknown>,
  );
  const { row, output } = scoredTexts(request!, answer!);
  const { orgId } = judge;
  const context = { orgId, scorers: deps.scorers, ask: askFor(judging, claimed) };
  const judged = await scoreOutput(context, spec, { row, judged: row, expected: undefined, output, timeoutMs }, signal);
  return judged.ok ? judged : { ...judged, message: cutErrorText(judged.message) };
}

/** Asks judge models for an answer; what is bought already is not bought again. */
function askFor({ deps, judge, budget, store }: Judging, claimed: ClaimedAnswer): Ask {
  const client = deps.providers.forPayer({ orgId: judge.orgId, keyId: null });
  return async ({ asker, key, tries, policy, messages, question, timeoutMs: tryTimeoutMs }, signal) => {
    const call = `${key}_${tries}`;
    const known = claimed.verdicts[call];
    if (known) return { ok: true, ...known };
    const meter = budget.reservation(policy);
    const asked = { asker, policy, messages, signal, meter, tryTimeoutMs, ...(question && { question }) };
    const answer = await completeChat(client, asked);
    if (!answer.ok) return answer;
    const { text, thoughts, refusal, finishReason } = withoutThoughts(answer);
    const verdict = { text, thoughts, refusal, finishReason };
    // The call is paid for, so wait for the database.
    await store((tx) => keepVerdict(tx, claimed, call, verdict));
    return { ok: true, ...verdict };
  };
}
