/** Families of models by their names: a judge favours texts of its own family. */

/** Beginnings of names that belong to another family's. */
const relatives: Record<string, string> = {
  o: 'gpt',
  chatgpt: 'gpt',
  codex: 'gpt',
  ministral: 'mistral',
  mixtral: 'mistral',
  codestral: 'mistral',
  magistral: 'mistral',
  devstral: 'mistral',
  pixtral: 'mistral',
  codellama: 'llama',
  qwq: 'qwen',
  codegemma: 'gemma',
};

/** The family of a model, such as `gpt` of `openai/gpt-6-luna`; null: its name says none. */
export function modelFamily(model: string): string | null {
  const [, first] = /^([a-z]+)/.exec(model.split('/').at(-1)!.toLowerCase()) ?? [];
  if (first === undefined) return null;
  return relatives[first] ?? first;
}
