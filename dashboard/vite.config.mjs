// The dashboard: `vite dashboard` serves it with reloads beside a service on port 8787.
import { defineConfig } from 'vite';

const service = process.env.RATCHET_URL ?? 'http://127.0.0.1:8787';
// The service refuses changes from pages of another origin.
const proxied = { target: service, headers: { origin: service } };

export default defineConfig({
  root: import.meta.dirname,
  build: { outDir: '../dist/dashboard', emptyOutDir: true, target: 'es2022', assetsInlineLimit: 0 },
  server: { proxy: { '/api': proxied, '/v1': proxied } },
});
