/**
 * The bench's model, a separate process: proposer of the rules world, policy of rule rows,
 * else a short answer (`wait-50`: after 50 ms).
 */
import { setTimeout as delay } from 'node:timers/promises';
import { startFakeModel } from '../test/support/fakes/model.js';
import { answerRule } from '../test/support/worlds/rows.js';
import { propose } from '../test/support/worlds/rules.js';
import { serveChild } from './child.js';

/** A typical chat answer, 20 pieces when streamed. */
const text = 'The parcel that you ask about has left our store this morning and will be with you in two days .';

const model = await startFakeModel(async (request) => {
  // Requests are not kept: there are very many.
  model.requests.length = 0;
  const [, ms] = /^wait-(\d+)$/.exec(request.body.model) ?? [];
  if (ms !== undefined) await delay(Number(ms));
  const reflection = request.body.messages.some(({ content }) => content.includes('needs rule-'));
  return { text: reflection ? propose(request) : (answerRule(request.body.messages) ?? text) };
});
serveChild(model.url, (question) => {
  throw new Error(`unknown question "${question}"`);
});
