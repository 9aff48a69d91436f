import { pythonWith } from '../venv.js';

/** The peer's version. */
export const litellmVersion = '1.106.2';

/** A Python with LiteLLM's proxy, 0.8 GB; see `pythonWith`. */
export function litellmPython(folder: string): Promise<string> {
  return pythonWith({ name: 'litellm[proxy]', version: litellmVersion }, folder);
}
