import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { answers } from '../../support/fakes/container-answers.js';
import { graphAnswer } from '../../support/worlds/graph.js';
import { propose } from '../../support/worlds/rules.js';
import type { SeededChoice } from '../seeded-choice.js';
import { answerOfRow, askOf, isOfClient, keyOf, rolloutOf } from '../jobs/keys.js';
import { Ledger, type ModelLine } from '../evidence/ledger.js';
import { behaveAs, modelFaults, type ModelFault } from './model.js';
import { listen } from '../../support/loopback.js';

interface Asked {
  model: string;
  stream?: boolean;
  messages: { role: string; content: string }[];
}

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

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = JSON.parse(await text(request)) as Asked;
    const key = keyOf(body.messages);
    const n = (asked.get(key) ?? 0) + 1;
    asked.set(key, n);
    // The policy's model has the name of its job.
    const job = body.model;
    const { fault, workMs } = draw(job, key, n);
    const line = { job, key, fault: fault?.name ?? 'good' };
    const book = ledger;
    book.note({ event: 'in', at: Date.now(), ...line });
    response.once('close', () =>
      book.note({ event: 'out', at: Date.now(), ...line, finished: response.writableFinished }),
    );
    await delay(workMs);
    if (fault?.behave) return behaveAs(fault.behave, response);
    const said = answerTo(body, key, n);
    if (!body.stream) {
      if (fault) return behaveAs(answers.cut(), response);
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(completion(body, said)));
      return;
    }
    await stream(response, body, said, fault ? 2 : Infinity);
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((error: Error) => response.destroy(error));
  });
  const { url, close } = await listen(server);
  return {
    url: `${url}/v1`,
    begin(choice, file, percent) {
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
    close,
  };
}

/** Answers a client with the prompt that serves it, or with a graph's result for its item. */
function answerTo({ messages }: Asked, key: string, n: number): string {
  if (rolloutOf(key)) return `answer ${n} to ${askOf(key)}`;
  if (isOfClient(key) && key === askOf(key)) return messages[0]!.content;
  const rule = /^Row \d+: rule (\d+)$/.exec(messages.at(-1)!.content)?.[1];
  if (rule !== undefined) return messages[0]!.content.includes(`rule-${rule}.`) ? answerOfRow(rule) : 'No rule.';
  const isAboutItems = messages.some(({ content }) => /\bitem \d+\?/.test(content));
  return isAboutItems ? graphAnswer(messages) : propose({ body: { messages } as never });
}

const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
const head = { id: 'chatcmpl-1', created: 1_700_000_000 };

function completion({ model }: Asked, content: string) {
  const choice = { index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' };
  return { ...head, object: 'chat.completion', model, choices: [choice], usage };
}

/** Sends a stream word by word, and breaks it after `cutAfter` chunks. */
async function stream(response: ServerResponse, { model }: Asked, said: string, cutAfter: number): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const chunk = (delta: object, finish: string | null) => ({
    ...{ ...head, object: 'chat.completion.chunk', model },
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
  const words = said.match(/\S+\s*/g) ?? [];
  const chunks = [
    ...words.map((content) => chunk({ content }, null)),
    chunk({}, 'stop'),
    { ...chunk({}, null), choices: [], usage },
  ];
  for (const [i, chunk] of chunks.entries()) {
    if (i === cutAfter) return void response.socket?.resetAndDestroy();
    response.write(`data: ${JSON.stringify(chunk)}\n\n`);
    await delay(2);
  }
  response.end('data: [DONE]\n\n');
}
