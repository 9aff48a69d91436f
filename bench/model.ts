/** The model of the bench, a process of its own: the proposer of the world of rules, else a short answer; `wait-50` takes 50 ms for it. */
import { setTimeout as delay } from 'node:timers/promises';
import { startFakeModel } from '../test/support/fakes/model.js';
import { propose } from '../test/support/worlds/rules.js';
import { serveChild } from './child.js';

/** About what a chat model says in one go: 20 pieces when it is streamed. */
const text = 'The parcel that you ask about has left our store this morning and will be with you in two days .';

const model = await startFakeModel(async (request) => {
  // What they were asked is of no interest, and there are very many.
  model.requests.length = 0;
  const [, ms] = /^wait-(\d+)$/.exec(request.body.model) ?? [];
  if (ms !== undefined) await delay(Number(ms));
  const reflection = request.body.messages.some(({ content }) => content.includes('needs rule-'));
  return { text: reflection ? propose(request) : text };
});
serveChild(model.url, (question) => {
  throw new Error(`the model is not asked "${question}"`);
});
