import { ConfigError } from '../../service/config.js';

export type Model = { provider: string; model: string };

/** `openai/gpt-6-luna`; a name alone, such as `local`, is a provider and its model. */
export function modelOf(name: string): Model {
  const at = name.indexOf('/');
  return at < 0 ? { provider: name, model: name } : { provider: name.slice(0, at), model: name.slice(at + 1) };
}

/** Throws a ConfigError for a model without its provider; guesses it from the table of prices. */
export async function checkModelName(name: string | undefined, option: string): Promise<void> {
  if (name === undefined || name === 'local' || /^[^/]+\/./.test(name)) return;
  const { findProvider } = await import('@pydantic/genai-prices');
  const model = name.replace(/^\/|\/$/, '');
  const provider = findProvider({ modelId: model })?.id;
  const wanted = provider === undefined ? 'provider/model, such as openai/gpt-6-luna' : `${provider}/${model}`;
  throw new ConfigError(`${option} ${name}: write ${wanted}`);
}
