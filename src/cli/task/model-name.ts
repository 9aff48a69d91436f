/** `openai/gpt-6-luna`; a name alone is a provider and its model. */
export function modelOf(name: string): { provider: string; model: string } {
  const at = name.indexOf('/');
  return at < 0 ? { provider: name, model: name } : { provider: name.slice(0, at), model: name.slice(at + 1) };
}
