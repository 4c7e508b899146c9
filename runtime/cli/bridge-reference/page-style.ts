/** The style sheet of the web page: light and dark, desk and phone. */
export const STYLE = `:root { color-scheme: light dark; --line: light-dark(#d0d4da, #3a3f47); --back: light-dark(#f6f7f9, #16181c);
  --card: light-dark(#fff, #1f2227); --text: light-dark(#1c1f24, #e6e8eb); --soft: light-dark(#5a6270, #a3abb8);
  --link: light-dark(#0b57b0, #8ab8f5); --blue: #1a5fb4; --red: #b3261e; }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 60rem; padding: 0 1rem 3rem; background: var(--back); color: var(--text);
  font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
header { display: flex; flex-wrap: wrap; gap: .5rem 1.5rem; align-items: center; justify-content: space-between; }
h1 { font-size: 1.25rem; } h2 { font-size: 1.05rem; margin: 1.5rem 0 .5rem; } h3 { font-size: 1rem; margin: 0 0 .25rem; }
a { color: var(--link); } small, .empty { color: var(--soft); }
article, section > .bubble, section > form.write { background: var(--card); border: 1px solid var(--line); border-radius: .5rem;
  padding: .75rem; margin-bottom: .75rem; }
h3 svg { width: .9rem; height: .9rem; vertical-align: -.1rem; border-radius: .2rem; }
.body p { margin: .25rem 0; } .body ul { margin: .25rem 0; padding-left: 1.25rem; } .plain { white-space: pre-wrap; }
.body blockquote { margin: .25rem 0; padding-left: .75rem; border-left: 3px solid var(--line); }
.mention { background: light-dark(#dbe8fa, #1c3a5e); border-radius: .25rem; padding: 0 .2rem; }
.thread .bubble { margin-bottom: .5rem; }
.thread { margin-top: .5rem; padding-left: .75rem; border-left: 3px solid var(--line); }
.buttons { display: flex; flex-wrap: wrap; gap: .5rem; } .buttons:not(:empty) { margin: .5rem 0; }
.write { display: flex; gap: .5rem; margin: .5rem 0; } .write input { flex: 1; min-width: 0; }
button, input, select { font: inherit; color: inherit; background: var(--card); border: 1px solid var(--soft);
  border-radius: .4rem; padding: .4rem .75rem; min-height: 2.5rem; }
button { cursor: pointer; } button.primary { background: var(--blue); border-color: var(--blue); color: #fff; }
button.danger { background: var(--red); border-color: var(--red); color: #fff; }
button.quiet { border-color: transparent; color: var(--soft); padding: .2rem 0; background: none; }
`;
