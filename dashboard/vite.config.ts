import { join } from 'node:path';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';
import { bundledLicences } from './build/bundled-licences.ts';
import { gzipFiles } from './build/gzip-files.ts';

const here = (path: string) => join(import.meta.dirname, path);
/** `SVC_PORT` moves the daemon that `npm run dev` starts. */
const DAEMON = `http://127.0.0.1:${process.env.SVC_PORT ?? 8080}`;

/**
 * Puts `app/boot.ts` into the head as a classic script with a hashed address: it runs before everything else,
 * and the page has no inline script (docs/spec/contract.md#csp).
 */
function bootScript(): Plugin {
  return {
    name: 'boot-script',
    transformIndexHtml: {
      order: 'post',
      handler(_html, context) {
        const built = Object.values(context.bundle ?? {}).find((file) => file.name === 'boot');
        const attrs = built
          ? { src: `/${built.fileName}` }
          : { src: '/app/boot.ts', type: 'module' as const };
        return [{ tag: 'script', attrs, injectTo: 'head-prepend' }];
      },
    },
  };
}

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react(), bootScript(), bundledLicences(), gzipFiles()],
  build: {
    outDir: '../dist/dashboard',
    emptyOutDir: true,
    manifest: true,
    sourcemap: false,
    assetsDir: 'assets',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      input: { index: here('index.html'), boot: here('app/boot.ts') },
    },
  },
  server: {
    host: '127.0.0.1',
    // Preserve the Host header: the gateway refuses changes from a page with another Origin.
    proxy: {
      '/api': { target: DAEMON, changeOrigin: false },
      '/v1': { target: DAEMON, changeOrigin: false, ws: true },
    },
  },
});
