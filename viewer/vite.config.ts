// One HTML file with everything in it: script, styles and fonts. The report's data come later, by the program, in place of
// the marker in index.html.
import { createHash } from "node:crypto";
import { defineConfig, type Plugin } from "vite";

// KaTeX's style sheet offers each font in three formats; every browser that runs the page reads the first. Fonts that the
// equations of a model cannot ask for are left out.
const fonts = /KaTeX_(Main-Regular|Main-Bold|Main-Italic|Math-Italic|AMS-Regular|Size[1-4]-Regular)/;
function fewer_fonts(): Plugin {
  return {
    name: "fewer-fonts",
    enforce: "pre",
    transform(code, id) {
      if (!/katex.*\.css/.test(id)) return null;
      return code.replace(/@font-face\s*\{[^}]*\}/g, (face) =>
        fonts.test(face) ? face.replace(/,\s*url\([^)]*\.(woff|ttf)\)\s*format\([^)]*\)/g, "") : "",
      );
    },
  };
}

// Puts script and style into the page, and says in a policy that this script and no other may run, and that nothing may be
// fetched.
function one_file(): Plugin {
  return {
    name: "one-file",
    enforce: "post",
    generateBundle(_, bundle) {
      const page = bundle["index.html"];
      if (page?.type !== "asset") throw new Error("no index.html");
      let html = String(page.source);
      for (const [name, part] of Object.entries(bundle)) {
        if (part.type === "chunk") {
          // "</script" and "<!--" inside the code would end it; in strings and expressions these mean the same.
          const code = part.code.trim().replace(/<\/script/gi, "<\\/script").replace(/<!--/g, "<\\!--");
          const hash = createHash("sha256").update(code).digest("base64");
          html = html.replace(new RegExp(`\\s*<script[^>]*src="[^"]*${part.fileName}"[^>]*></script>`), () => "");
          // After the data, which it reads.
          html = html.replace("</body>", () => `<script type="module">${code}</script>\n</body>`);
          html = html.replace("POLICY_HASH", () => `'sha256-${hash}'`);
          delete bundle[name];
        } else if (name.endsWith(".css")) {
          html = html.replace(new RegExp(`\\s*<link[^>]*href="[^"]*${part.fileName}"[^>]*>`), () => `\n<style>${part.source}</style>`);
          delete bundle[name];
        }
      }
      if (/POLICY_HASH|<link[^>]+stylesheet|<script[^>]+src=/.test(html.slice(0, 2000))) throw new Error("not one file");
      page.source = html;
    },
  };
}

export default defineConfig({
  base: "./",
  plugins: [fewer_fonts(), one_file()],
  build: {
    target: "es2021",
    assetsInlineLimit: 1 << 24,
    cssCodeSplit: false,
    modulePreload: false,
    chunkSizeWarningLimit: 4096,
    rollupOptions: { output: { inlineDynamicImports: true } },
  },
});
