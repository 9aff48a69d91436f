/** Row `seed` of a task of `rules` rules: the model answers it if its prompt has the rule. */
export function ruleRow(seed: number, rules: number): { question: string; answer: string } {
  return { question: `Row ${seed}: rule ${seed % rules}`, answer: `needs rule-${seed % rules}.` };
}

/** The model's answer to a question of `ruleRow`; null: it is another question. */
export function answerRule(messages: readonly { content: string }[]): string | null {
  const [, rule] = /^Row \d+: rule (\d+)$/.exec(messages.at(-1)?.content ?? '') ?? [];
  if (rule === undefined) return null;
  return messages[0]!.content.includes(`rule-${rule}.`) ? `needs rule-${rule}.` : 'No rule.';
}
