/** The sample of `ratchet init` and of the dashboard, from the lines of `examples/intents`. */
const teams = 5;
const rows = 100;

export const sampleFields = {
  input: 'text',
  expected: 'label',
  scorer: 'exact',
  model: 'local',
  budget: 300,
};

/** Rows as JSON lines and the prompt for them. */
export function sampleOf(lines: string): { rows: string; prompt: string } {
  const all = lines.trim().split('\n');
  const labelOf = (line: string) => (JSON.parse(line) as { label: string }).label;
  const labels = [...new Set(all.map(labelOf))].sort().slice(0, teams);
  const chosen = all.filter((line) => labels.includes(labelOf(line))).slice(0, rows);
  return {
    rows: `${chosen.join('\n')}\n`,
    prompt: `Classify the message. Answer with exactly one of the labels, and nothing else.\n\nLabels: ${labels.join(', ')}\n`,
  };
}
