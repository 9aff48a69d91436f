import { expect, test } from '@jest/globals';
import { deploymentsOfFile, question } from '../../../kinds/deployment/routes/support.js';
import { gate } from '../../../support/gate.js';
import { range } from '../../../support/range.js';
import { until } from '../../../support/until.js';

const it = deploymentsOfFile();
/** More than have a permit or wait in the queue of creates, which was that of calls. */
const calls = 400;

test('calls that wait for a slow model hold no permit, and none is refused', async () => {
  await it.deploy('slow');
  const answered = gate();
  it.model.reply(() => answered.opened.then(() => ({})));
  const answers = range(0, calls).map(async (n) => {
    const answer = await it.ask('slow', { ...question, stream: n % 2 === 0 });
    await answer.text();
    return answer.status;
  });
  const all = Promise.all(answers);
  await until('the model has all calls', () => it.model.requests.length === calls).finally(answered.open);
  expect(new Set(await all)).toEqual(new Set([200]));
});
