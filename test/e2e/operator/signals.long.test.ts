import { expect, test } from '@jest/globals';
import { until } from '../../support/until.js';
import { operatorWorldOfFile } from './held-evaluation.js';

// A signal of any name, payload and encoding has its effect, or none and an event; no job hangs.

const world = operatorWorldOfFile();

test.each([
  ['json/protobuf', '{}', 'json/protobuf'],
  ['undecodable JSON', '{no', 'json/plain'],
  ['an unknown encoding', 'x', 'binary/foo'],
  ['binary/protobuf', '\u0001', 'binary/protobuf'],
  ['an unknown key', 'no key opens this', 'binary/encrypted'],
  ['an id with NUL', '{"commandId":"cmd_\\u0000"}', 'json/plain'],
  ['a number', '42', 'json/plain'],
])('pause, resume and cancel take a payload of %s', async (_, data, encoding) => {
  const { handle, shows, open } = await world.evaluation();
  await world.operator.signal(handle, 'pause', data, encoding);
  await shows('paused');
  await world.operator.signal(handle, 'resume', data, encoding);
  await shows('running');
  await world.operator.signal(handle, 'cancel', data, encoding);
  await shows('cancelled');
  open();
});

test('those without effect are in the log of the job', async () => {
  const { id, handle, shows, open } = await world.evaluation();
  const unknown = ['paws', '__proto__', 'constructor', 'toString', '__temporal_x', 'hasOwnProperty'];
  for (const name of unknown) await world.operator.signal(handle, name, '{}');
  for (const name of ['hint', 'candidate', 'reward']) await world.operator.signal(handle, name, '{}', 'json/protobuf');
  await world.operator.signal(handle, 'reward', '{"stop":"no"}');
  await world.operator.signal(handle, 'hint', '{"commandId":"x"}');
  const ignored = await until('all are in the log', async () => {
    const events = await world.eventsOf(id, 'signal_ignored');
    return events.length >= 11 && events;
  });
  const names = ignored.map(({ signal }) => signal);
  expect(names.sort()).toEqual([...unknown, 'hint', 'candidate', 'reward', 'reward', 'hint'].sort());
  await shows('running');
  open();
  await shows('completed');
});
