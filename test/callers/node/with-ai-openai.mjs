// The package ai with @ai-sdk/openai, which asks for responses.
import { createOpenAI } from '@ai-sdk/openai';
import { Caller as Base } from './with-ai.mjs';

export class Caller extends Base {
  constructor({ url, key, model }) {
    super({ url, key, model });
    this.provider = createOpenAI({ baseURL: url, apiKey: key });
  }

  asking(prompt, more) {
    // What the service does not store is sent whole.
    return super.asking(prompt, { providerOptions: { openai: { store: false } }, ...more });
  }
}
