/** Sends hostile requests to the `local` provider, several times each, then prints `all ended`. */
import { singleStepGraph } from '../../src/core/graphs/single-step.js';
import { completeLocally } from '../../src/local-model/index.js';
import type { Question } from '../../src/core/question.js';

const graph = singleStepGraph([{ role: 'system', content: 'Answer n0.' }], ['facts']);
const size = 300_000;
const repeats = 2;
const texts: Record<string, string> = {
  'one long word': 'a'.repeat(size),
  // Short enough to be read without truncation.
  'quotes in a list': `Labels: x${'"'.repeat(95_000)}x, y`,
  'spaces between nothing': `Labels:${' '.repeat(size)}x`,
  'many labels': `Labels: ${Array.from({ length: 50_000 }, (_, n) => `l_${n}`).join(', ')}`,
  'many mentions': `Labels: k1, k2\n${'k1 '.repeat(size / 3)}`,
  'many lines': 'k1: x\n'.repeat(size / 6),
  'many words': Array.from({ length: 50_000 }, (_, n) => `word${n}x`).join(' '),
  'own lines': Array.from({ length: 15_000 }, (_, n) => `- \`k${n}\`: also x`).join('\n'),
  'many statements': 'The a of b is c. '.repeat(size / 17),
  'a chain of statements': Array.from({ length: 9_000 }, (_, n) => `The a of n${n} is n${n + 1}.`).join(' '),
};
const labelled = 'Message: x\n\nLabels: k1, k2';

for (const [name, text] of Object.entries(texts)) {
  for (let n = 0; n < repeats; n += 1) {
    ask(text, text);
    ask(text, labelled);
    ask('- `k1`: a\n- `k2`: b', `${text}\n\n${labelled}`);
    const example = { input: labelled, output: 'k1', feedback: `Expected \`k2\`. ${text}`, reward: 0 };
    const other = { ...example, input: text, output: text, feedback: `${text} ${example.feedback}` };
    const failures = [text, labelled].map((input) => {
      return { ...example, input, feedback: `Expected: n5\n${text}`, steps: [], calls: 1, tokens: null };
    });
    const proposal = { graph: '', failures, models: [], maxEdits: 3, attempts: { now: 1, most: 72 } };
    const criteria = [{ name: 'x', weight: 1, description: text }];
    answer({ kind: 'text', reflection: { instruction: text, examples: [example, other], approach: 'restart' } });
    answer({ kind: 'edits', graph, proposal });
    answer({ kind: 'judgement', request: { criteria, input: text, output: text, gold: { value: text } } });
  }
  console.log(`${name}: ended`);
}
console.log('all ended');

function ask(system: string, content: string): void {
  completeLocally({
    messages: [
      { role: 'system', content: system },
      { role: 'user', content },
    ],
  });
}

function answer(question: Question): void {
  completeLocally({ messages: [{ role: 'user', content: '' }] }, question);
}
