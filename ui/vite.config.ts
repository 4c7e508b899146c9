import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vite';
import { docsPlugin } from '../scripts/docs/vite-plugin.ts';
import { CHUNKS, chunksPlugin } from './chunks-plugin.ts';
import { machinesPlugin } from './machines-plugin.ts';

/** Builds the single-page app into `ui/dist`. Nothing is inlined: the page runs under a strict Content-Security-Policy. */
export default defineConfig({
  plugins: [svelte({ configFile: false }), machinesPlugin(), chunksPlugin(), docsPlugin()],
  build: {
    target: ['chrome130', 'firefox132', 'safari16'],
    outDir: 'dist',
    emptyOutDir: true,
    assetsDir: 'assets',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // What each page loads, for the test of the sizes.
    manifest: true,
    reportCompressedSize: true,
    // How long plugins take is no news to somebody who starts the service.
    rolldownOptions: {
      checks: { pluginTimings: false },
      output: {
        codeSplitting: CHUNKS,
        // The first file names all others: short hashes keep the first load small, and 36 bits tell two builds apart.
        // For so many chunks rolldown asks for seven letters.
        entryFileNames: 'assets/[name]-[hash:7].js',
        chunkFileNames: 'assets/[name]-[hash:7].js',
        assetFileNames: 'assets/[name]-[hash:6][extname]',
      },
    },
  },
});
