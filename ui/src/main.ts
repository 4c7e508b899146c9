import { mount } from 'svelte';
import App from './App.svelte';
import { createApp } from './app/create-app.svelte.ts';
import './styles/tokens.css';
import './styles/base.css';
import './styles/controls.css';

const target = document.getElementById('app');
if (target === null) throw new Error('The page has no #app');
// Not awaited here: files that import from this one would wait for it.
void createApp(window).then((app) => mount(App, { target, props: { app } }));
