/** The README.md of an archive, for readers who do not know Ratchet. */
import { maxCalls, type Graph } from '../../../../core/graphs/graph.js';

/** What the README says of a graph. */
export interface ReadmeFacts {
  jobId: string;
  graph: Graph;
  reward: number | null;
  /** The policy models; the first is the default of steps without a model. */
  models: readonly [string, ...string[]];
  provider: string;
}

const kinds = {
  llm: 'calls a model',
  map: 'calls a model once per item of a list',
  vote: 'chooses among answers',
  select: 'chooses a branch; the other branches do not run',
  transform: 'transforms values without a model',
};

export function readmeText({ jobId, graph, reward, models, provider }: ReadmeFacts): string {
  const size = `${plural(graph.steps.length, 'step')} from an input to one output, at most ${plural(maxCalls(graph), 'model call')} a run`;
  const score = reward === null ? '' : ` It had the best score, ${Number(reward.toPrecision(4))}.`;
  const example = JSON.stringify(Object.fromEntries(graph.inputs.map((name) => [name, '…'])));
  const command = `echo '${example.replaceAll("'", `'\\''`)}' | python run.py -`;
  const used = Object.entries(kinds).filter(([type]) => graph.steps.some((step) => step.type === type));
  return `# A graph of model calls

This archive contains a small program that calls language models: ${size}. Ratchet, a service that improves prompts, found it in job \`${jobId}\` by testing many candidates on a set of tasks.${score} The program runs without that service.

## Run it

You need Python 3.9 or later, the \`openai\` package, and a key.

\`\`\`sh
pip install openai
export OPENAI_API_KEY=…
${[command, ...(graph.inputs.length === 1 ? ['python run.py --text "…"'] : [])].join('\n')}
\`\`\`

The input is a JSON object${graph.inputs.length === 0 ? '' : ` with ${named(graph.inputs)}`}; a file works too: \`python run.py input.json\`. The output is printed as JSON. If the run fails, the exit status is 1 and standard error names the step and the reason.

The graph was optimized for ${named(models)} of the provider \`${provider}\`. ${baseUrlHint(provider)} \`--model NAME\` uses that model for all steps.

From Python: \`from run import load, openai_completer, run_graph\`; then \`run_graph(load("graph.json"), {…}, openai_completer())\` returns the output or raises \`Failed\`.

## Files

| file | content |
| --- | --- |
| \`graph.txt\` | the graph as readable text: every step with its messages |
| \`graph.json\` | the graph as JSON, read by \`run.py\` |
| \`graph.mmd\` | its steps as a [Mermaid](https://mermaid.js.org) chart, which GitHub and many editors render |
| \`best_prompt.json\` | the messages by step, with the reward |
| \`results.json\` | the search: its history, the scores by task, the cost |
| \`candidates.jsonl\` | all candidates with their graphs, one per line |
| \`run.py\` | runs \`graph.json\` |
| \`manifest.json\` | the SHA-256 of each file, the versions and the seed of the search |

## How a graph runs

${used.map(([type, noun]) => `- \`${type}\`: ${noun}.`).join('\n')}

The \`inputs\` of a step name its values: \`input.<field>\` of the input, \`<step>\` or \`<step>.<field>\` of another step. \`{{name}}\` in its messages is replaced by such a value. Independent steps run concurrently. If a step cannot use an answer, it calls the model again.
`;
}

function baseUrlHint(provider: string): string {
  return provider === 'openai'
    ? 'For another server with the same API, set `OPENAI_BASE_URL` or `--base-url`.'
    : 'Set `OPENAI_BASE_URL` or `--base-url` to the OpenAI-compatible API of that provider.';
}

function named(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(', ');
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
