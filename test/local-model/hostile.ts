/** Sends hostile requests to the `local` provider, several times each, then prints `all ended`. */
import { completeLocally } from '../../src/local-model/complete.js';
import { buildEditProposal } from '../../src/core/graphs/edits/proposal.js';
import { singleStepGraph } from '../../src/core/graphs/single-step.js';
import { graphText } from '../../src/core/graphs/text.js';
import { buildReflection } from '../../src/core/proposals/reflection.js';
import { buildJudgePrompt } from '../../src/core/verify/judge.js';

const graph = singleStepGraph([{ role: 'system', content: 'Answer n0.' }], ['facts']);
const size = 300_000;
const repeats = 2;
// Short enough to be read without truncation.
const quotes = '"'.repeat(95_000);
const texts: Record<string, string> = {
  'one long word': 'a'.repeat(size),
  'quotes in a list': `Labels: x${quotes}x, y`,
  'quotes in the text': `like \`AB-12\` x${quotes}x`,
  'opened tags': '<text>'.repeat(size / 6),
  'spaces between nothing': `Labels:${' '.repeat(size)}x`,
  'many labels': `Labels: ${Array.from({ length: 50_000 }, (_, n) => `l_${n}`).join(', ')}`,
  'many mentions': `Labels: k1, k2\n${'k1 '.repeat(size / 3)}`,
  'many lines': 'k1: x\n'.repeat(size / 6),
  'many words': Array.from({ length: 50_000 }, (_, n) => `word${n}x`).join(' '),
  fences: '```\n'.repeat(size / 4),
  'braces and backticks': '{{`"'.repeat(size / 4),
  'many statements': 'The a of b is c. '.repeat(size / 17),
  'a chain of statements': Array.from({ length: 9_000 }, (_, n) => `The a of n${n} is n${n + 1}.`).join(' '),
  'many candidates': 'Candidate 1:\n> x\n'.repeat(size / 17),
  'open braces': `Answer with JSON ${'{"a":['.repeat(size / 6)}`,
  'an open example': `like ${'`'.repeat(size)}`,
};
const labelled = 'Message: x\n\nLabels: k1, k2';

for (const [name, text] of Object.entries(texts)) {
  for (let n = 0; n < repeats; n += 1) {
    ask(text, text);
    ask(text, labelled);
    ask('Find what looks like `AB-12`.', text);
    ask('Find what looks like `AB-12` or `C`.', text);
    ask('- `k1`: a\n- `k2`: b', `${text}\n\n${labelled}`);
    const example = { input: labelled, output: 'k1', feedback: `Expected \`k2\`. ${text}`, reward: 0 };
    const other = { ...example, input: text, output: text };
    const shown = buildReflection({ instruction: text, examples: [example, other] })[0]!.content;
    ask('', shown);
    ask('', shown.replace('Expected', `${text} Expected`));
    const run = {
      ...example,
      feedback: `Expected: n5\n${text}`,
      steps: [{ step: 'solve', value: text }],
      calls: 1,
      tokens: null,
    };
    ask(
      '',
      buildEditProposal({ graph: text, failures: [run], models: [], maxEdits: 3, attempts: { now: 1, most: 72 } })[0]!
        .content,
    );
    ask(
      '',
      buildEditProposal({
        graph: graphText(graph),
        failures: [{ ...run, input: text }],
        models: [],
        maxEdits: 3,
        attempts: { now: 1, most: 72 },
      })[0]!.content,
    );
    ask(
      '',
      buildJudgePrompt({ criteria: [{ name: 'x', weight: 1, description: text }], input: text, output: text })[1]!
        .content,
    );
  }
  console.log(`${name}: ended`);
}
console.log('all ended');

function ask(system: string, user: string): void {
  completeLocally({
    messages: [
      { role: 'system', content: system },
      { role: 'user', content: user },
    ],
  });
}
