import { expect, test } from '@jest/globals';
import { selfTimes } from '../profile.js';

test('selfTimes excludes idle time, sorts by time, and shows paths of our files', () => {
  const node = (id: number, functionName: string, url = '') => ({
    id,
    callFrame: { functionName, url, lineNumber: 9 },
  });
  const nodes = [node(1, '(idle)'), node(2, 'read', 'file:///x/dist/src/platform/http/sse.js'), node(3, 'writev')];
  const lines = selfTimes({ nodes, samples: [1, 2, 3, 2], timeDeltas: [9_000, 1_000, 1_000, 2_000] });
  expect(lines.map((line) => line.trim().replace(/ +/g, ' '))).toEqual([
    '4 ms not idle',
    '3 ms 75 % read src/platform/http/sse.js:10',
    '1 ms 25 % writev',
  ]);
});
