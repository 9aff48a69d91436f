/**
 * The providers that are built in, by address. All but OpenAI's were compared on 2026-11-27 with
 * pages of vendors and others, or with published clients (ADR 99).
 */

/** The address of an OpenAI-compatible endpoint, and whether it needs a key. */
export interface Preset {
  title: string;
  /** The address, without `/chat/completions`; null: each account has its own. */
  baseUrl: string | null;
  /** The form of an account's own address, for errors and the reference. */
  form?: string;
  needsKey: boolean;
  /** The variable of the vendor's own clients, where it differs; ours comes first. */
  vendorKey?: string;
}

export const presets: Record<string, Preset> = {
  openai: { title: 'OpenAI', baseUrl: 'https://api.openai.com/v1', needsKey: true },
  anthropic: { title: 'Anthropic', baseUrl: 'https://api.anthropic.com/v1', needsKey: true },
  google: {
    title: 'Google Gemini',
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta/openai',
    needsKey: true,
    vendorKey: 'GEMINI_API_KEY',
  },
  azure: {
    title: 'Azure OpenAI',
    baseUrl: null,
    form: 'https://<resource>.openai.azure.com/openai/v1',
    needsKey: true,
    vendorKey: 'AZURE_OPENAI_API_KEY',
  },
  bedrock: {
    title: 'Amazon Bedrock',
    baseUrl: null,
    form: 'https://bedrock-runtime.<region>.amazonaws.com/openai/v1',
    needsKey: true,
    vendorKey: 'AWS_BEARER_TOKEN_BEDROCK',
  },
  vertex: {
    title: 'Google Vertex AI',
    baseUrl: null,
    form: 'https://<region>-aiplatform.googleapis.com/v1/projects/<project>/locations/<region>/endpoints/openapi',
    needsKey: true,
  },
  openrouter: { title: 'OpenRouter', baseUrl: 'https://openrouter.ai/api/v1', needsKey: true },
  groq: { title: 'Groq', baseUrl: 'https://api.groq.com/openai/v1', needsKey: true },
  mistral: { title: 'Mistral', baseUrl: 'https://api.mistral.ai/v1', needsKey: true },
  deepseek: { title: 'DeepSeek', baseUrl: 'https://api.deepseek.com/v1', needsKey: true },
  xai: { title: 'xAI', baseUrl: 'https://api.x.ai/v1', needsKey: true },
  together: { title: 'Together AI', baseUrl: 'https://api.together.ai/v1', needsKey: true },
  fireworks: { title: 'Fireworks AI', baseUrl: 'https://api.fireworks.ai/inference/v1', needsKey: true },
  cerebras: { title: 'Cerebras', baseUrl: 'https://api.cerebras.ai/v1', needsKey: true },
  sambanova: { title: 'SambaNova', baseUrl: 'https://api.sambanova.ai/v1', needsKey: true },
  perplexity: { title: 'Perplexity', baseUrl: 'https://api.perplexity.ai', needsKey: true },
  nvidia: { title: 'NVIDIA NIM', baseUrl: 'https://integrate.api.nvidia.com/v1', needsKey: true },
  huggingface: {
    title: 'Hugging Face',
    baseUrl: 'https://router.huggingface.co/v1',
    needsKey: true,
    vendorKey: 'HF_TOKEN',
  },
  moonshot: { title: 'Moonshot', baseUrl: 'https://api.moonshot.ai/v1', needsKey: true },
  zai: { title: 'Z.ai', baseUrl: 'https://api.z.ai/api/paas/v4', needsKey: true },
  qwen: {
    title: 'Qwen',
    baseUrl: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
    needsKey: true,
    vendorKey: 'DASHSCOPE_API_KEY',
  },
  ollama: { title: 'Ollama', baseUrl: 'http://127.0.0.1:11434/v1', needsKey: false },
  lmstudio: { title: 'LM Studio', baseUrl: 'http://127.0.0.1:1234/v1', needsKey: false },
  vllm: { title: 'vLLM', baseUrl: 'http://127.0.0.1:8000/v1', needsKey: false },
  llamacpp: { title: 'llama.cpp', baseUrl: 'http://127.0.0.1:8080/v1', needsKey: false },
  litellm: { title: 'LiteLLM proxy', baseUrl: 'http://127.0.0.1:4000/v1', needsKey: false },
};

/** The header that carries a key; in `authorization` as a bearer token. */
export type KeyHeader = 'authorization' | 'api-key';

const azureHosts = /\.(openai\.azure\.com|cognitiveservices\.azure\.com|services\.ai\.azure\.com)$/;

/** The header for a provider's key: by its address, and for `azure` behind a gateway. */
export function keyHeaderOf(name: string, url: string): KeyHeader {
  return name === 'azure' || azureHosts.test(new URL(url).hostname) ? 'api-key' : 'authorization';
}
