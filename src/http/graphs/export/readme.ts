/** The README.md of an archive, for somebody who has never seen Ratchet. */
import { maxCalls } from '../../../core/graphs/graph.js';
import type { GraphExport } from './archive.js';

const kinds = {
  llm: 'asks a model',
  map: 'asks a model once for each item of a list',
  vote: 'chooses among answers',
  select: 'chooses a branch; what is not chosen is not run',
  transform: 'works on values without a model',
};

/** Its text; the graph's steps name their models. */
export function readmeText({ jobId, graph, reward, models, provider }: GraphExport): string {
  const size = `${counted(graph.steps.length, 'step')} from an input to one output, at most ${counted(maxCalls(graph), 'model call')} a run`;
  const score = reward === null ? '' : ` This one scored ${Number(reward.toPrecision(4))}, the best.`;
  const example = JSON.stringify(Object.fromEntries(graph.inputs.map((name) => [name, '…'])));
  const command = `echo '${example.replaceAll("'", `'\\''`)}' | python run.py -`;
  const used = Object.entries(kinds).filter(([type]) => graph.steps.some((step) => step.type === type));
  return `# A graph of model calls

This archive holds a small program that calls language models: ${size}. Ratchet, a service that improves prompts, found it (job \`${jobId}\`) by trying many on a set of tasks.${score} Nothing of that service is needed to run it.

## Run it

You need Python 3.9 or later, the \`openai\` package, and a key.

\`\`\`sh
pip install openai
export OPENAI_API_KEY=…
${[command, ...(graph.inputs.length === 1 ? ['python run.py --text "…"'] : [])].join('\n')}
\`\`\`

The input is a JSON object${graph.inputs.length === 0 ? '' : ` with ${named(graph.inputs)}`}; it may be a file too: \`python run.py input.json\`. The output is printed as JSON. When the run fails, the exit status is 1, and standard error says at which step and why.

The graph was found with ${named(models)} of the provider \`${provider}\`. ${whereModelsAre(provider)} \`--model NAME\` has all steps ask that model.

From Python: \`from run import load, openai_completer, run_graph\`; then \`run_graph(load("graph.json"), {…}, openai_completer())\` is the output, or raises \`Failed\`.

## What is in it

| file | holds |
| --- | --- |
| \`graph.txt\` | the graph to be read: every step with its messages |
| \`graph.json\` | the same for programs; \`run.py\` reads it |
| \`graph.mmd\` | its steps as a chart in [Mermaid](https://mermaid.js.org), which GitHub and many editors draw |
| \`best_prompt.json\` | the messages by step, with the reward |
| \`results.json\` | how the search went: its history, the scores task by task, what it cost |
| \`candidates.jsonl\` | the graphs that were tried, one a line |
| \`run.py\` | runs \`graph.json\` |
| \`manifest.json\` | the SHA-256 of each file, the versions and the seed of the search |

## How a graph runs

${used.map(([type, what]) => `- \`${type}\`: ${what}.`).join('\n')}

A step takes the values that its \`inputs\` name: \`input.<field>\` of the input, \`<step>\` or \`<step>.<field>\` of another step. In its messages \`{{name}}\` stands for one of them. Steps that do not wait for each other run at once. An answer that a step cannot use is asked for again.
`;
}

function whereModelsAre(provider: string): string {
  return provider === 'openai'
    ? 'For models elsewhere, set `OPENAI_BASE_URL` or `--base-url` to an address that speaks the same API.'
    : 'Set `OPENAI_BASE_URL` or `--base-url` to the address where that provider speaks the API of OpenAI.';
}

function named(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(', ');
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}
