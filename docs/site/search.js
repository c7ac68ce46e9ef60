"use strict";
/* search: finds entries of SEARCH_INDEX, each [title, address, place, words]. Every word of the question must begin a word
 * of the entry; titles count most. */

const HITS = 60;
const lower = text => text.toLowerCase();

function score(entry, words) {
  const title = lower(entry[0]), text = " " + entry[3];
  let sum = 0;
  for (const word of words) {
    const here = title === word ? 40 : title.startsWith(word) ? 20 : title.includes(word) ? 10 : 0;
    if (!here && !text.includes(" " + word) && !lower(entry[2]).includes(word)) return 0;
    sum += 1 + here;
  }
  return sum - title.length / 200;
}

function find(question) {
  const words = lower(question).split(/[^a-z0-9_]+/).filter(word => word);
  if (!words.length) return [];
  return SEARCH_INDEX.map(entry => [score(entry, words), entry]).filter(([points]) => points > 0).sort((a, b) => b[0] - a[0]).map(([, entry]) => entry);
}

function showHits() {
  const question = new URLSearchParams(location.search).get("q") || "", hits = find(question), list = document.getElementById("hits");
  document.querySelector("input[name=q]").value = question;
  document.getElementById("found").textContent = question ? hits.length + (hits.length === 1 ? " place" : " places") + " for “" + question + "”" + (hits.length > HITS ? ", the first " + HITS : "") + "." : "Type a word above: a name of the interface, a mechanism, an option.";
  list.replaceChildren(...hits.slice(0, HITS).map(([title, address, place]) => {
    const item = document.createElement("li"), link = document.createElement("a");
    link.href = address;
    link.textContent = title;
    item.append(link, place ? " – " + place : "");
    return item;
  }));
}

showHits();
