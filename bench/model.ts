/**
 * The bench's model, a separate process: proposer of the rules world, policy of rule rows,
 * else a short answer (`wait-50`: after 50 ms, of a stream after its first event).
 */
import { setTimeout as delay } from 'node:timers/promises';
import { startFakeModel } from '../test/support/fakes/model.js';
import { answerRule } from '../test/support/worlds/rows.js';
import { propose } from '../test/support/worlds/rules.js';
import { serveChild } from './child.js';

/** A typical chat answer, 20 pieces when streamed. */
const text = 'The parcel that you ask about has left our store this morning and will be with you in two days .';

let inFlight = 0;
let mostInFlight = 0;

const model = await startFakeModel(async (request) => {
  // Requests are not kept: there are very many.
  model.requests.length = 0;
  inFlight += 1;
  mostInFlight = Math.max(mostInFlight, inFlight);
  void request.ended.then(() => (inFlight -= 1));
  const [, ms] = /^wait-(\d+)$/.exec(request.body.model) ?? [];
  const wait = ms === undefined ? undefined : delay(Number(ms));
  if (request.body.stream !== true) await wait;
  const reflection = request.body.messages.some(({ content }) => content.includes('needs rule-'));
  const answer = reflection ? propose(request) : (answerRule(request.body.messages) ?? text);
  return { text: answer, ...(wait && { hold: wait }) };
});
serveChild(model.url, (question) => {
  if (question !== 'most in flight') throw new Error(`unknown question "${question}"`);
  const most = mostInFlight;
  mostInFlight = inFlight;
  return most;
});
