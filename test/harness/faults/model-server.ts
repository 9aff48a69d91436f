import { setTimeout as delay } from 'node:timers/promises';
import { answers } from '../../support/fakes/container-answers.js';
import { startFakeModel, type ModelReply, type ModelRequest } from '../../support/fakes/model.js';
import { graphAnswer } from '../../support/worlds/graph.js';
import { propose } from '../../support/worlds/rules.js';
import type { SeededChoice } from '../seeded-choice.js';
import { answerOfRow, askOf, isOfClient, keyOf, rolloutOf } from '../jobs/keys.js';
import { Ledger, type ModelLine } from '../evidence/ledger.js';
import { modelFaults, type ModelFault } from './model.js';

/** An OpenAI-compatible model for containers and proposers with seeded faults. */
export interface ChaosModel {
  /** Base URL with /v1. */
  url: string;
  /** Begins a round: source of randomness, ledger, and percentage of faulty calls. */
  begin(choice: SeededChoice, file: string, faults: number): Ledger<ModelLine>;
  close(): Promise<void>;
}

export async function startChaosModel(): Promise<ChaosModel> {
  let draw: (job: string, key: string, n: number) => { fault: ModelFault | null; workMs: number } = () => {
    throw new Error('the model is asked before its round has begun');
  };
  let ledger: Ledger<ModelLine>;
  const asked = new Map<string, number>();

  async function answer({ body, ended }: ModelRequest): Promise<ModelReply> {
    const key = keyOf(body.messages);
    const n = (asked.get(key) ?? 0) + 1;
    asked.set(key, n);
    // The policy's model has the name of its job.
    const job = body.model;
    const { fault, workMs } = draw(job, key, n);
    const line = { job, key, fault: fault?.name ?? 'good' };
    const book = ledger;
    book.note({ event: 'in', at: Date.now(), ...line });
    void ended.then((finished) => book.note({ event: 'out', at: Date.now(), ...line, finished }));
    await delay(workMs);
    if (fault?.behave) return { behave: fault.behave };
    if (fault && !body.stream) return { behave: answers.cut() };
    return { text: answerTo(body, key, n), usage, pauseMs: 2, ...(fault && { cutAfter: 2 }) };
  }

  const model = await startFakeModel(answer);
  return {
    url: model.url,
    begin(choice, file, percent) {
      model.requests.length = 0;
      ledger = new Ledger(file);
      draw = (job, key, n) => {
        // A container's key holds an id that does not come from the seed.
        const own = choice.of('model', job, askOf(key).replace(/rol_[0-9a-f]+/, ''), n);
        const workMs = own.between(5, 60);
        const fault = own.weighted(modelFaults);
        return { workMs, fault: own.chance(percent) ? fault : null };
      };
      return ledger;
    },
    close: () => model.close(),
  };
}

/** Answers a client with the prompt that serves it, or with a graph's result for its item. */
function answerTo(body: ModelRequest['body'], key: string, n: number): string {
  const { messages } = body;
  if (rolloutOf(key)) return `answer ${n} to ${askOf(key)}`;
  if (isOfClient(key) && key === askOf(key)) return messages[0]!.content;
  const rule = /^Row \d+: rule (\d+)$/.exec(messages.at(-1)!.content)?.[1];
  if (rule !== undefined) return messages[0]!.content.includes(`rule-${rule}.`) ? answerOfRow(rule) : 'No rule.';
  const isAboutItems = messages.some(({ content }) => /\bitem \d+\?/.test(content));
  return isAboutItems ? graphAnswer(messages) : propose({ body });
}

const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
