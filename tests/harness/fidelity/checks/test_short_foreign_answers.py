"""Short answers in another language of Latin letters, and texts of names and code that only look like one."""

import pytest
from fidelity_judging import complaints

REFERENCE = "The library opens tomorrow at 9:30."
FOREIGN = [
    "Die Bücherei öffnet morgen um 9:30.",
    "Das Treffen findet erst am Freitag statt.",
    "La biblioteca apre domani alle 9:30.",
    "De bibliotheek opent morgen om 9:30.",
    "A biblioteca abre amanhã às 9:30.",
    "La biblioteca abre mañana a las 9:30.",
    "La bibliothèque ouvre demain.",
    "Biblioteket öppnar i morgon klockan 9:30.",
    "Biblioteka otwiera się jutro o 9:30.",
    "Kütüphane yarın saat 9:30'da açılıyor.",
    "Thư viện mở cửa lúc 9:30 ngày mai.",
    "Perpustakaan buka besok pukul 9:30.",
    "Knihovna otevírá zítra v 9:30.",
    "Kirjasto avautuu huomenna.",
    "Biblioteca se deschide mâine.",
]
ENGLISH = [
    "Grafana, Prometheus and Loki",
    "Ask María Fernández Ruiz in Málaga.",
    "Take the Rue de la Paix to the Musée d'Orsay.",
    "Run `kubectl rollout undo`.",
    "kubectl get nodes -n kube-system",
    "systemctl restart nginx",
    "Try the crème brûlée and the jalapeño.",
    "Müller, Schmidt, Weiß",
    "Hotel zur Post, Bad Tölz",
    "Hyundai Ioniq 5 or Kia EV6",
    "Ibuprofen, paracetamol, amoxicillin",
    "The au pair waits at the Gare du Nord.",
    "Das Boot",
    "Don Giovanni, Così fan tutte, La Traviata",
    "Zaful, Shein, Temu",
    "npm install express",
    "Xiaomi Redmi Note 13 Pro",
    "Via Roma 12, Torino",
    "café au lait",
    "Ubuntu, Debian, Fedora",
    "pip install pandas numpy",
    "Check the kubelet and the etcd logs.",
    "Sauerkraut, bratwurst, pretzel",
    "Unter den Linden 5",
    "Restart dockerd, containerd, kubelet",
    "Dr. Nguyễn Văn An sees you at 9:30.",
    "Rioja, Merlot, Chianti",
    "Yes, in São Paulo.",
    "Al dente",
    "Send it to Mr de la Cruz.",
    "Lufthansa flight to München",
    "docker compose up -d",
    "tofu, kimchi, gochujang",
    "Pho bo, banh mi, bun cha",
]


@pytest.mark.parametrize("candidate", FOREIGN)
def test_a_short_answer_in_another_language_is_found(candidate: str) -> None:
    assert complaints(REFERENCE, candidate, "language")
    assert complaints("图书馆明天九点半开门。", candidate, "language")


@pytest.mark.parametrize("candidate", ENGLISH)
def test_names_things_and_code_are_no_language(candidate: str) -> None:
    assert not complaints(REFERENCE, candidate, "language")


def test_words_of_the_reference_or_the_question_are_no_other_language() -> None:
    assert not complaints("Say bitte nicht rauchen.", "bitte nicht rauchen", "language")
    assert not complaints("It is a greeting.", "guten abend allerseits", "language", prompt="guten abend allerseits?")
