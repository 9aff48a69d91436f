import { TimeoutError, withTimeout, type PausableTimer } from '../../src/clients/net/bounded.js';
import type { RolloutOutcome } from '../../src/clients/container/client.js';
import { providerRefusedKey } from '../../src/models/client/refusals.js';
import type { EmptyReason } from '../../src/core/answers/ending.js';
import { isSolved } from '../../src/core/math/rewards.js';
import type { GraphSpec } from '../../src/core/jobs/spec.js';
import { costExhausted } from '../../src/core/jobs/failures.js';
import { outcomeOf, stepValues, type Call } from '../../src/core/graphs/run/run.js';
import type { Run } from '../../src/core/graphs/run/state.js';
import { driveGraph, unusableAnswer } from '../../src/core/graphs/run/drive.js';
import { graphFromJson } from '../../src/core/graphs/json.js';
import { displayText, isBlank, type Json } from '../../src/core/graphs/values.js';
import type { Tx } from '../../src/platform/db/db.js';
import { readTasks } from '../../src/kinds/graph/store/tasks.js';
import { databasePatienceMs, retryTransient } from '../../src/platform/db/patience.js';
import { readAnswers } from '../../src/rollouts/store/answers.js';
import { askModel, type ModelQuestion, type ModelRollout, type ModelResult } from '../models/ask-model.js';
import type { ClaimedRollout } from '../rollouts/source.js';
import { Silence, type Silent } from './silence.js';
import { isCostSpent, messageOf } from '../errors.js';
import { outcomeOfRefusal } from '../models/refused-account.js';
import { recordLost } from '../jobs/spec.js';
import { verify } from './verify.js';
import { cutErrorText } from '../../src/clients/net/untrusted.js';
import { cutToBytes } from '../../src/util/text.js';

/** Bytes stored of a rollout's output and of each step's value. */
const maxStored = { output: 64_000, step: 4_000 } as const;

/** Runs a candidate's graph on a task and scores the output. Rejects with the signal's reason. */
export async function runGraph(rollout: ClaimedRollout<GraphSpec>): Promise<RolloutOutcome> {
  const { deps, job, spec, claim, control, trace } = rollout;
  const { signal, concurrency } = control;
  const read = (tx: Tx) =>
    Promise.all([readTasks(tx, job.jobId, [claim.seed]), readAnswers(tx, job.jobId, claim.rolloutId)]);
  const [tasks, recorded] = await retryTransient(() => deps.db.org(job.orgId, read), {
    patienceMs: databasePatienceMs,
    onRetry: (err) => deps.log.warn({ err, rollout_id: claim.rolloutId }, 'task not read; retrying'),
  });
  const task = tasks.get(claim.seed);
  const { graph: stored } = rollout.prompt;
  if (!task || !stored) throw recordLost(job);
  const onPushback = (reason: string) => concurrency.lower(reason);
  const { budget, answerCache = null } = spec;
  const asking: ModelRollout = { deps, job, budget, answerCache, claim, recorded, trace, onPushback };
  const timeoutMs = spec.rolloutTimeoutS * 1_000;
  const silence = new Silence();
  /** Duration of the longest call that the timeout interrupted. */
  let interruptedMs = 0;
  const ask = async (call: Call, tries: number, timed: AbortSignal, timer: PausableTimer): Promise<ModelResult> => {
    const question: ModelQuestion = {
      asker: 'step',
      key: call.key,
      tries,
      policy: spec.policies.find(({ model }) => model === call.model) ?? spec.policy,
      messages: [...call.messages],
      timeoutMs: call.timeoutS * 1_000,
    };
    const startedAt = performance.now();
    try {
      const answer = await askModel({ ...asking, onWait: () => timer.hold() }, question, timed);
      if (answer.ok) silence.note(call, answer, question.policy);
      return answer;
    } catch (error) {
      interruptedMs = Math.max(interruptedMs, performance.now() - startedAt);
      throw error;
    }
  };
  try {
    const { run, fault } = await withTimeout(timeoutMs, signal, (timed, timer) =>
      driveGraph(graphFromJson(stored), task.input as Json, (call, tries) => ask(call, tries, timed, timer)),
    );
    const outcome = outcomeOf(run);
    if (outcome.status !== 'done') {
      const { step, reason } = outcome as { step: string | null; reason: string };
      const message = step === null ? reason : `Step ${step}: ${reason}`;
      if (fault === null || fault.code === unusableAnswer) return unsolved(message, stepsOf(run), silence.of(step));
      // A refused key is not the fault of a step.
      return failed(fault.code, fault.code === providerRefusedKey ? reason : message, fault.infrastructure);
    }
    const verified = await verify(asking, spec, task, outcome.value, signal);
    if (!verified.ok) return failed(verified.code, verified.message, verified.infrastructure);
    const { reward, feedback, criteria } = verified.verification;
    const silent = isSolved(reward) || !isBlank(outcome.value) ? null : silence.ofAny();
    const details = {
      output: truncateValue(outcome.value, maxStored.output),
      steps: stepsOf(run),
      ...(criteria && { criteria }),
    };
    return { kind: 'reward', reward, details, ...withSilence(feedback, silent) };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof TimeoutError) {
      const message = `The graph had no output within ${spec.rolloutTimeoutS} s.`;
      // A call that took most of the time means a slow provider, not a slow graph.
      return interruptedMs > timeoutMs / 2 ? failed('rollout_timeout', message, true) : unsolved(message, [], null);
    }
    // The runner drops the outcomes of rollouts that the cost budget refused.
    const refused = outcomeOfRefusal(error);
    if (refused) return refused;
    if (isCostSpent(error)) return failed(costExhausted, messageOf(error), true);
    throw error;
  }
}

function stepsOf(run: Run): { step: string; value: string }[] {
  return Object.entries(stepValues(run)).map(([step, value]) => ({
    step,
    value: cutToBytes(displayText(value), maxStored.step),
  }));
}

function truncateValue(value: Json, bytes: number): Json {
  const text = displayText(value);
  return Buffer.byteLength(text) <= bytes ? value : cutToBytes(text, bytes);
}

/** A graph without an output did not solve its task: reward 0, with feedback to learn from. */
function unsolved(reason: string, steps: { step: string; value: string }[], silent: Silent | null): RolloutOutcome {
  const feedback = `There is no output. ${cutErrorText(reason)}`;
  return { kind: 'reward', reward: 0, details: { steps }, ...withSilence(feedback, silent) };
}

/** The feedback with the reason of the empty answer before it. */
function withSilence(feedback: string, silent: Silent | null): { feedback: string; empty?: EmptyReason } {
  if (silent === null) return { feedback };
  const { step, reason, words } = silent;
  return { feedback: `At step ${step} the model ${words}.\n${feedback}`, empty: reason };
}

function failed(code: string, message: string, infrastructure: boolean): RolloutOutcome {
  if (code === providerRefusedKey) return { kind: 'refused_key', code, message };
  return { kind: 'failed', code, message: cutErrorText(message), infrastructure, connect: false };
}
