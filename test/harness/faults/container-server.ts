import { answers, startFakeContainer, type Behaviour, type ReceivedRollout } from '../../support/fakes/container.js';
import { baseline } from '../../support/worlds/rules.js';
import { setTimeout as delay } from 'node:timers/promises';
import { askModel } from '../clients/ask.js';
import { containerFaults, type ContainerFault } from './container.js';
import type { SeededChoice } from '../seeded-choice.js';
import { questionOfRollout } from '../jobs/keys.js';
import { Ledger, type ContainerLine } from '../evidence/ledger.js';

/** Behaviour of a job's container. */
export interface ContainerNature {
  /** Percentage of faulty rollouts. */
  faults: number;
  /** Least and most milliseconds of work. */
  workMs: [number, number];
  /** Most model calls in a rollout. */
  asks: number;
  /** Retry window of a failed model call, in milliseconds; 0: no retry. */
  patienceMs: number;
  /** The origin of a proxy for its model calls. */
  modelThrough?: string;
  /** Reward decrement of the n-th answer to a rollout, so that the row shows the recorded one. */
  attemptStep?: number;
}

/** The container of one job with its ledger, the evidence against the service. */
export interface JobContainer {
  url: string;
  lines(): ContainerLine[];
  trapped(): boolean;
  close(): Promise<void>;
}

/** Number of rules to find; see rules-world.ts. */
const rules = 4;
const defaultStep = 1e-6;

/** A container whose behaviour depends on the seed, the job and the ordinal, not on call order. */
export async function startJobContainer(
  job: string,
  file: string,
  choice: SeededChoice,
  nature: ContainerNature,
): Promise<JobContainer> {
  const ledger = new Ledger<ContainerLine>(file);
  let url = '';
  const behave = (call: ReceivedRollout): Behaviour => {
    const prompt = call.body.policy.config.prompt_template?.sections[0]?.content ?? '';
    // Position of the rollout in request order, which follows from the seed alone.
    const ordinal = call.rolloutId.split('_').at(-1)!;
    const own = choice.of('rollout', job, ordinal);
    const fault = drawFault(own, nature.faults);
    const once = own.chance(50);
    const { rolloutId, attempt } = call;
    if (fault && !(fault.mendable && once && attempt > 1)) {
      ledger.note({ event: 'plan', at: Date.now(), rolloutId, attempt, fault: fault.name });
      return fault.make(url, own);
    }
    ledger.note({ event: 'plan', at: Date.now(), rolloutId, attempt, fault: 'good' });
    return work(job, ledger, own, nature, score(prompt, call.seed));
  };
  const container = await startFakeContainer({
    prompt: [{ role: 'system', content: baseline }],
    behave,
    ledgerFile: file,
  });
  url = container.url;
  return {
    url,
    lines: () => ledger.lines(),
    trapped: () => container.probes.some(({ path }) => path === '/trap'),
    close: () => container.close(),
  };
}

function drawFault(choice: SeededChoice, percent: number): ContainerFault | null {
  const fault = choice.weighted(containerFaults);
  return choice.chance(percent) ? fault : null;
}

const score = (prompt: string, seed: number): number =>
  prompt === '' ? (seed % 5) / 5 : prompt.includes(`rule-${seed % rules}.`) ? 1 : 0;

/** Works, calls the model, and answers with its reward; 0 without a model answer. */
function work(
  job: string,
  ledger: Ledger<ContainerLine>,
  choice: SeededChoice,
  nature: ContainerNature,
  worth: number,
): Behaviour {
  const worksMs = choice.between(...nature.workMs);
  const asks = choice.between(0, nature.asks);
  return async (call, response) => {
    const { rolloutId, attempt } = call;
    // Most work follows the model's answers: a kill then finds rollouts with recorded answers.
    await delay(worksMs / 4);
    let answered = true;
    for (let n = 0; n < asks && !response.destroyed; n += 1) {
      const stream = choice.chance(40);
      const givenUpAt = Date.now() + nature.patienceMs;
      for (let isRetry = false; ; isRetry = true) {
        const question = questionOfRollout(job, call.seed, rolloutId, n);
        const heard = await askModel(call, question, { stream, isRetry, through: nature.modelThrough });
        ledger.note({ event: 'asked', at: Date.now(), rolloutId, attempt, ...heard });
        answered &&= heard.text !== null || nature.patienceMs > 0;
        // Nobody awaits the answer: its worker was killed.
        if (heard.text !== null || Date.now() > givenUpAt || response.destroyed) break;
        await delay(300);
      }
    }
    await delay(worksMs);
    const reward = (answered ? worth : 0) - attempt * (nature.attemptStep ?? defaultStep);
    ledger.note({ event: 'answer', at: Date.now(), rolloutId, attempt, reward });
    if (!response.destroyed) await answers.reward(reward, `needs rule-${call.seed % rules}.`)(call, response);
  };
}
