// The dashboard: `vite dashboard` serves it with reloads beside a service on port 8787.
import { defineConfig, runnerImport } from 'vite';

const service = process.env.RATCHET_URL ?? 'http://127.0.0.1:8787';
// The service refuses changes from pages of another origin.
const proxied = { target: service, headers: { origin: service } };

/** Scorers are plain data here: the page needs neither zod nor what reads schemas and patterns. */
const scorerForms = {
  name: 'scorer-forms',
  load: {
    filter: { id: new URL('../src/scorers/forms.ts', import.meta.url).pathname },
    async handler(id) {
      const { module } = await runnerImport(id, { configFile: false });
      const values = Object.entries(module);
      return values.map(([name, value]) => `export const ${name} = ${JSON.stringify(value)};`).join('\n');
    },
  },
};

export default defineConfig({
  root: import.meta.dirname,
  plugins: [scorerForms],
  build: {
    outDir: '../dist/dashboard',
    emptyOutDir: true,
    target: 'es2022',
    assetsInlineLimit: 0,
    // A test bounds the compressed size.
    chunkSizeWarningLimit: 1_000,
  },
  server: { proxy: { '/api': proxied, '/v1': proxied } },
});
