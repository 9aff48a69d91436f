import { expect, test } from '@jest/globals';
import { editsSchema, type EditJson } from '../../../src/kinds/graph/contract/graph.js';
import { editToJson, editFromJson } from '../../../src/core/graphs/json.js';

const prompt = {
  inputs: { question: 'input.question' },
  messages: [{ role: 'user' as const, content: '{{question}}' }],
  timeout_s: 9,
  tries: 2,
};

test('edits use the wire names of fields', () => {
  const edits: EditJson[] = [
    {
      edit: 'add',
      step: { id: 'a', type: 'map', ...prompt, output: { field: 'x' }, over: 'b', as: 'it', max_items: 3 },
    },
    { edit: 'add', step: { id: 'a', type: 'vote', of: ['b', 'c'], by: { judge: prompt } } },
    { edit: 'vote', step: 'a', samples: 3, by: { judge: prompt } },
    { edit: 'vote', step: 'a', samples: 3, by: 'majority' },
    { edit: 'model', step: 'a', model: null },
  ];
  expect(editsSchema.parse(edits).map(editFromJson).map(editToJson)).toEqual(edits);
  expect(editFromJson(edits[2]!)).toMatchObject({ by: { judge: { timeoutS: 9 } } });
});
